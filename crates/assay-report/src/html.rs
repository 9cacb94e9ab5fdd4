//! A page as one HTML file: no network, no markup from foreign text, drawn by what lies in the file.
//!
//! Method: the document is the page's own JSON and its samples in a `<script type="application/json">`, a style sheet, two
//! libraries (`html/vendor`, from their registry packages) and our own code (`html/page`), which makes all elements from text
//! nodes. Every `<` of the data is written as `\u003c`, so nothing in it can end the element or begin another one; a policy
//! in the head lets nothing run but the scripts whose digests it names, no `eval`, and loads nothing from anywhere.
//! Known limits: without JavaScript only the title, the question and the answer are shown.
//! Checked by: `scripts/page/test.sh` in Chromium.

#[cfg(test)]
mod kept;
mod strips;

pub use self::strips::{AllStrips, Strip, Strips, StripsOf};

use crate::limits;
use crate::list::{ListPage, ListRow};
use crate::page::{PageCompiler, PageFlagSet};
use crate::prose;
use assay_pure::inputs::digest::digest;
use assay_pure::limits::Limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Draws axes, scales and marks. Both libraries are from their registry's package, as `scripts/page/vendor.sh` says.
const D3: &str = include_str!("html/vendor/d3.min.js");
const PLOT: &str = include_str!("html/vendor/plot.umd.min.js");
/// Their licences go wherever they go.
const LICENSES: &str = include_str!("html/vendor/LICENSES");
const STYLE: &str = include_str!("html/page/page.css");
/// Modules of one script: they see each other, and nothing else sees them.
const CODE: &str = concat!(
    include_str!("html/page/dom.js"),
    include_str!("html/page/chart.js"),
    include_str!("html/page/filter.js"),
    include_str!("html/page/forest.js"),
    include_str!("html/page/strips.js"),
    include_str!("html/page/campaign.js"),
    include_str!("html/page/compare.js"),
    include_str!("html/page/sweep.js"),
    include_str!("html/page/stages.js"),
    include_str!("html/page/sites.js"),
    include_str!("html/page/history.js"),
    include_str!("html/page/limits.js"),
    include_str!("html/page/listing.js"),
    include_str!("html/page/main.js"),
);
/// The style that Plot writes into each drawing; `chart.js` names the class.
const PLOT_STYLE: &str = ":where(.plot) {\n  --plot-background: white;\n  display: block;\n  height: auto;\n  height: \
                          intrinsic;\n  max-width: 100%;\n}\n:where(.plot text),\n:where(.plot tspan) {\n  white-space: pre;\n}";

/// One page with what the ledger has beside it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shown {
    /// The page's JSON, of whatever schema.
    pub page: Value,
    /// The question, where the page's data have none.
    pub question: Option<String>,
    /// The answer, where the page's data have none.
    pub answer: Option<String>,
    /// What to do about the answer, as the terminal says it.
    pub next: Option<String>,
    /// The samples behind it.
    pub samples: Option<Strips>,
    /// The command that measures it again.
    pub command: Option<String>,
    /// The file that the command needs, as it was.
    pub file: Option<AskedFile>,
    /// What it is repeated with, where the page's data have less.
    pub repeats: Option<Repeats>,
    /// Data caches of the machine that measured.
    pub caches: Vec<crate::sweep::page::CacheSize>,
    /// Of assay, when it measured.
    pub version: Option<String>,
}

/// What a measurement is repeated with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Repeats {
    /// Facts of the machine, by name.
    pub machine: Vec<(String, String)>,
    /// The compilers that built for it.
    pub compilers: Vec<PageCompiler>,
    /// Their flags.
    pub flags: Vec<PageFlagSet>,
    /// What was worked on.
    pub inputs: Vec<RepeatedInput>,
}

/// An input, identified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepeatedInput {
    /// Its name, or its file's.
    pub name: String,
    /// How it is made; none: it is a file.
    pub recipe: Option<String>,
    /// Its size; none: unknown.
    pub bytes: Option<u64>,
    /// SHA-256, hexadecimal.
    pub digest: String,
}

/// A file of the user's, as it was when it was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AskedFile {
    /// Its name.
    pub name: String,
    /// All of it.
    pub text: String,
}

impl Shown {
    /// A page of which nothing else is known.
    pub fn alone(page: Value) -> Self {
        // The limits of a machine are kept as figures only.
        let limits = (page["schema"] == assay_pure::limits::SCHEMA).then(|| Limits::deserialize(&page).ok());
        let limits = limits.flatten();
        Self {
            question: limits.is_some().then(|| limits::QUESTION.to_owned()),
            answer: limits.as_ref().map(limits::in_sentences),
            page,
            next: None,
            samples: None,
            command: None,
            file: None,
            repeats: None,
            caches: Vec::new(),
            version: None,
        }
    }

    /// A text of the page's data, or what stands for it.
    fn text(&self, key: &str) -> &str {
        let other = match key {
            "question" => self.question.as_deref(),
            "answer" => self.answer.as_deref(),
            _ => None,
        };
        self.page[key].as_str().or(other).unwrap_or_default()
    }
}

/// What a document that is served has and a file has not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Served<'a> {
    /// Where the list of everything is.
    pub home: Option<&'a str>,
    /// Where the state of what is being measured is asked for.
    pub live: Option<&'a str>,
    /// Where the pages are asked for, as [`Prepared::data`] has them: the document shows what it has until they have come.
    pub data: Option<&'a str>,
}

/// A list as it is served.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Listed<'a> {
    /// Its rows.
    #[serde(flatten)]
    pub page: &'a ListPage,
    /// The experiment whose measurements they are; none: everybody's.
    pub experiment: Option<&'a str>,
    /// What those that are under way do now, by their paths.
    pub now: &'a BTreeMap<String, String>,
}

/// What a document has beside its pages.
#[derive(Serialize)]
struct DocumentFrame<'a> {
    listing: Option<Listed<'a>>,
    made: String,
    home: Option<&'a str>,
    live: Option<&'a str>,
    data: Option<&'a str>,
}

/// One page, or two side by side, written once for whatever document or request needs them.
#[derive(Clone, Debug)]
pub struct Prepared {
    title: String,
    /// What is read without scripts.
    plain: String,
    /// A list of [`Shown`].
    json: String,
}

impl Prepared {
    /// These pages.
    pub fn of(shown: &[Shown]) -> Self {
        let text = |key: &str| shown.first().map_or("", |one| one.text(key));
        let title = ["experiment", "diary", "name", "question", "schema"]
            .into_iter()
            .map(text)
            .find(|text| !text.is_empty());
        Self {
            title: title.unwrap_or_default().to_owned(),
            plain: format!("<h1>{}</h1><p>{}</p>", escaped(text("question")), escaped(text("answer"))),
            json: serde_json::to_string(shown).expect("a page has only string keys"),
        }
    }

    /// The document that shows them.
    pub fn document(&self, served: Served<'_>) -> String {
        whole(&self.title, &self.plain, &self.json, None, served)
    }

    /// Only they, as JSON: what a document asks for that was sent before they were made.
    pub fn data(&self) -> String {
        format!("{{\"shown\":{}}}", self.json)
    }
}

/// The document of one page, or of two side by side.
pub fn document(shown: &[Shown], served: Served<'_>) -> String {
    Prepared::of(shown).document(served)
}

/// The list of what a ledger has.
pub fn listing(listed: Listed<'_>, served: Served<'_>) -> String {
    let link = |row: &ListRow| {
        format!("<li><a href=\"/{0}\">{0}</a> {1}</li>", escaped(&row.path), escaped(&row.name))
    };
    let plain = format!("<ul>{}</ul>", listed.page.rows.iter().map(link).collect::<String>());
    whole(listed.experiment.unwrap_or(&listed.page.ledger), &plain, "[]", Some(listed), served)
}

/// `plain` is what is read without scripts, `shown` the pages' JSON.
fn whole(title: &str, plain: &str, shown: &str, listing: Option<Listed<'_>>, served: Served<'_>) -> String {
    let made = format!(
        "Made by assay {}. Drawn with D3 and Observable Plot; their licences are in this file.",
        env!("CARGO_PKG_VERSION")
    );
    let frame = DocumentFrame { listing, made, home: served.home, live: served.live, data: served.data };
    let frame = serde_json::to_string(&frame).expect("a page has only string keys");
    let data = format!("{{\"shown\":{shown},{}", &frame[1..]);
    let parts = [
        head(title, served),
        format!("<noscript>{plain}</noscript>\n"),
        format!("<script type=\"application/json\" id=\"data\">{}</script>\n", as_text_of_a_script(&data)),
        format!("<!--\n{}-->\n", LICENSES.replace("--", "- -")),
        format!("<script>{D3}</script>\n<script>{PLOT}</script>\n<script type=\"module\">{CODE}</script>\n"),
        "</body>\n</html>\n".to_owned(),
    ];
    parts.concat()
}

fn head(title: &str, served: Served<'_>) -> String {
    let connect = if served.live.is_some() || served.data.is_some() { "'self'" } else { "'none'" };
    let scripts: Vec<String> = [D3, PLOT, CODE].iter().map(|script| source(script)).collect();
    let styles: Vec<String> = [STYLE, PLOT_STYLE].iter().map(|style| source(style)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; script-src {}; style-src {}; connect-src {connect}; base-uri 'none'; form-action \
         'none'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" \
         content=\"no-referrer\">\n<title>{} - assay</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
        scripts.join(" "),
        styles.join(" "),
        escaped(title)
    )
}

/// What a policy calls a text that may run or apply: its SHA-256 in base 64.
fn source(text: &str) -> String {
    let hex = digest(text.as_bytes());
    let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("a digest is hexadecimal");
    let bytes: Vec<u8> = (0..hex.len() / 2).map(byte).collect();
    format!("'sha256-{}'", base64(&bytes))
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let of = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = of(0) << 16 | of(1) << 8 | of(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize] as char;
            text.push(if at <= three.len() { letter } else { '=' });
        }
    }
    text
}

/// JSON inside a `<script>`: the same data, in which nothing ends the element, opens a comment or steers what shows the source.
fn as_text_of_a_script(json: &str) -> String {
    let json = crate::json::escaped(json);
    let mut text = String::with_capacity(json.len() + json.len() / 16);
    for c in json.chars() {
        match c {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            _ => text.push(c),
        }
    }
    text
}

/// Text between tags, which steers nothing that shows the source.
fn escaped(text: &str) -> String {
    prose::clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    const HOSTILE: &str = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>";

    fn hostile() -> Shown {
        let mut page = sample::page();
        for contrast in &mut page.contrasts {
            contrast.candidate = HOSTILE.into();
        }
        page.question = HOSTILE.into();
        page.experiment = HOSTILE.into();
        page.answer = HOSTILE.into();
        Shown::alone(serde_json::to_value(&page).unwrap())
    }

    #[test]
    fn foreign_text_is_no_markup_and_stays_the_same_data() {
        let document = document(&[hostile()], Served::default());
        assert!(!document.contains("<script>alert"));
        assert!(!document.contains("<img"));
        // Two libraries, our code, the data; each ends where it should.
        assert_eq!(document.matches("<script").count(), 4);
        assert_eq!(document.matches("</script").count(), 4);
        let begin = document.find("id=\"data\">").unwrap() + "id=\"data\">".len();
        let data = &document[begin..begin + document[begin..].find('<').unwrap()];
        let read: Value = serde_json::from_str(data).unwrap();
        assert_eq!(read["shown"][0]["page"]["contrasts"][0]["candidate"], HOSTILE);
    }

    #[test]
    fn words_of_others_steer_no_terminal_that_shows_the_file() {
        let mut page = sample::page();
        page.question = "a\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}?".into();
        page.experiment.clone_from(&page.question);
        let document = document(&[Shown::alone(serde_json::to_value(&page).unwrap())], Served::default());
        let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
        let begin = document.find("<title>").unwrap();
        assert!(!document[begin..begin + 60].contains(steers));
        let plain = document.find("<noscript>").unwrap();
        assert!(!document[plain..].contains(steers), "{}", &document[plain..plain + 200]);
    }

    #[test]
    fn limits_of_a_machine_are_answered_though_their_data_are_figures_only() {
        let limits = limits::sample::limits();
        let shown = Shown::alone(serde_json::to_value(&limits).unwrap());
        assert_eq!(shown.question.as_deref(), Some(limits::QUESTION));
        assert_eq!(shown.answer, Some(limits::in_sentences(&limits)));
        let document = document(&[shown], Served::default());
        assert!(document.contains(&format!("<title>{} - assay</title>", limits::QUESTION)));
        assert!(document.contains(&escaped(&limits::in_sentences(&limits))));
    }

    #[test]
    fn a_file_asks_nobody_for_anything() {
        let document =
            document(&[Shown::alone(serde_json::json!({"schema": "assay.plan/1"}))], Served::default());
        assert!(document.contains("connect-src 'none'") && document.contains("default-src 'none'"));
        assert!(!document.contains("unsafe-"));
        assert!(!document.contains(" src=") && !document.contains("<link"));
        assert!(document.len() < 700_000, "{}", document.len());
    }

    #[test]
    fn a_document_that_asks_for_its_pages_may_ask_its_own_server_alone() {
        let prepared = Prepared::of(&[hostile()]);
        let waiting = Served { data: Some("/data/campaign/1"), ..Served::default() };
        let document = document(&[], waiting);
        assert!(document.contains("connect-src 'self'") && document.contains("default-src 'none'"));
        assert!(document.contains("\"data\":\"/data/campaign/1\""));
        let read: Value = serde_json::from_str(&prepared.data()).unwrap();
        assert_eq!(read["shown"][0]["page"]["contrasts"][0]["candidate"], HOSTILE);
    }

    #[test]
    fn base_64_is_that_of_the_standard() {
        // RFC 4648, section 10.
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, expected) in vectors {
            assert_eq!(base64(plain.as_bytes()), expected);
        }
    }
}
