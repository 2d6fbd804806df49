//! Tables, JSON and HTML reports.
