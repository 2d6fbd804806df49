//! Links of a site that stay within it: each leads to a file that is there, and to an `id` in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// So many that lead nowhere are named.
const NAMED: usize = 30;

/// How much was looked at; names what leads nowhere.
pub(super) fn check(site: &Path) -> Result<String, String> {
    let mut pages = BTreeMap::new();
    read_pages(site, &mut pages)?;
    let (mut links, mut lost) = (0, Vec::new());
    for (path, Page { text, .. }) in &pages {
        // The page for what is not found stands anywhere.
        if path.ends_with("404.html") {
            continue;
        }
        for link in values(text, " href=\"").chain(values(text, " src=\"")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            if file.contains(':') || file.starts_with("//") {
                continue;
            }
            links += 1;
            let there = match file {
                "" => path.clone(),
                _ => {
                    plain(&path.parent().unwrap_or(site).join(file.split('?').next().unwrap_or("")))
                }
            };
            if !leads_somewhere(&there, anchor, &pages) {
                let page = path.strip_prefix(site).unwrap_or(path).display();
                lost.push(format!("{page}: {link}"));
            }
        }
    }
    match lost.len() {
        0 => Ok(format!("{} pages, {links} links", pages.len())),
        many => {
            lost.truncate(NAMED);
            Err(format!("{many} links lead nowhere:\n  {}", lost.join("\n  ")))
        }
    }
}

struct Page {
    text: String,
    ids: BTreeSet<String>,
}

fn leads_somewhere(there: &Path, anchor: &str, pages: &BTreeMap<PathBuf, Page>) -> bool {
    match pages.get(there) {
        Some(page) => anchor.is_empty() || page.ids.contains(anchor),
        None => there.exists(),
    }
}

fn read_pages(folder: &Path, pages: &mut BTreeMap<PathBuf, Page>) -> Result<(), String> {
    let named = |why: std::io::Error| format!("{}: {why}", folder.display());
    for entry in fs::read_dir(folder).map_err(named)? {
        let path = entry.map_err(named)?.path();
        if path.is_dir() {
            read_pages(&path, pages)?;
        } else if path.extension().is_some_and(|ending| ending == "html") {
            let text = fs::read_to_string(&path).map_err(named)?;
            let ids = values(&text, " id=\"").map(str::to_owned).collect();
            pages.insert(path, Page { text, ids });
        }
    }
    Ok(())
}

/// What stands behind each `key`, up to the quote.
fn values<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(key).skip(1).filter_map(|rest| rest.split('"').next())
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(out.pop()),
            std::path::Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn what_leads_nowhere_is_named_with_its_page() {
        let site = std::env::temp_dir().join(format!("meed-site-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = site.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("index.html", "<a href=\"a/b.html#x\">b</a> <a href=\"https://a.b/c\">c</a>");
        write("a/b.html", "<h2 id=\"x\"> <a href=\"../index.html\"> <img src=\"#x\">");
        assert_eq!(super::check(&site).unwrap(), "2 pages, 3 links");
        write("a/c.html", "<a href=\"b.html#y\"> <img src=\"../no.png\">");
        let why = super::check(&site).unwrap_err();
        let page = Path::new("a").join("c.html");
        let page = page.display();
        assert!(why.starts_with("2 links lead nowhere"), "{why}");
        assert!(why.contains(&format!("{page}: b.html#y")), "{why}");
        assert!(why.contains(&format!("{page}: ../no.png")), "{why}");
        std::fs::remove_dir_all(&site).unwrap();
    }
}
