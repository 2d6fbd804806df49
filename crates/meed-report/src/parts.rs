//! What other pages of this project are made of as well: the look, the plotting library, and the
//! scripts that every page begins with.

use crate::shell::{BASE, DOM, FIGURE, FORMAT, PLOT_STYLE, STYLE, THEME};

/// Styles: of the plotting library, and the common look, light and dark.
pub fn look() -> String {
    [PLOT_STYLE, STYLE].join("\n")
}

/// The plotting library, with its licence.
pub fn library() -> String {
    crate::shell::library()
}

/// Scripts that make `Meed.base`, `format`, `theme`, `dom` and `figure`.
pub fn scripts() -> String {
    ["\"use strict\";", BASE, FORMAT, THEME, DOM, FIGURE].join("\n")
}
