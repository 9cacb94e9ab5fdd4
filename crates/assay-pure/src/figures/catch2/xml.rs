//! The XML reporter's elements, found by their names: `TestCase` and the `Section`s in it, `BenchmarkResults`, `mean` in it.
//!
//! Limits: no parser of XML, as four elements with one attribute each are all that is read.

use super::CatchMean;
use regex::Regex;
use std::sync::LazyLock;

static ELEMENT: LazyLock<Regex> = LazyLock::new(|| {
    let elements = [
        r#"<TestCase name="(?<case>[^"]*)""#,
        r#"<Section name="(?<section>[^"]*)""#,
        r"(?<leave></Section>)",
        r#"<BenchmarkResults name="(?<name>[^"]*)""#,
        r#"<mean value="(?<mean>[^"]*)""#,
        r"(?<end></BenchmarkResults>|<failed )",
    ];
    Regex::new(&elements.join("|")).expect("a regular expression")
});

/// Whether there is the result of a benchmark.
pub(super) fn is_in(text: &str) -> bool {
    text.contains("<BenchmarkResults ")
}

/// All results.
pub(super) fn read(text: &str) -> Vec<CatchMean> {
    let (mut found, mut path): (Vec<CatchMean>, Vec<String>) = Default::default();
    let mut open: Option<CatchMean> = None;
    for element in ELEMENT.captures_iter(text) {
        if let Some(case) = element.name("case") {
            path = vec![unescaped(case.as_str())];
        } else if let Some(section) = element.name("section") {
            path.push(unescaped(section.as_str()));
        } else if element.name("leave").is_some() {
            path.pop();
        } else if let Some(name) = element.name("name") {
            open = Some(CatchMean { test_case: path.join("/"), name: unescaped(name.as_str()), ns: None });
        } else if let (Some(mean), Some(result)) = (element.name("mean"), &mut open) {
            result.ns = mean.as_str().parse().ok();
        } else if element.name("end").is_some() {
            found.extend(open.take());
        }
    }
    found
}

fn unescaped(text: &str) -> String {
    let known = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    let plain = known.iter().fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain));
    plain.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_with_their_test_case() {
        let text = r#"<Catch2TestRun name="b">
  <TestCase name="maps &amp; sets" tags="[!benchmark]" filename="a.cpp" line="6">
    <BenchmarkResults name="find &lt;int&gt;" samples="100" resamples="100000" iterations="5" clockResolution="20" estimatedDuration="1e6">
      <!--All values in nano seconds-->
      <mean value="163.25" lowerBound="160" upperBound="170" ci="0.95"/>
      <standardDeviation value="1" lowerBound="1" upperBound="2" ci="0.95"/>
    </BenchmarkResults>
    <Section name="inner">
    <BenchmarkResults name="throws">
      <failed message="no"/>
    </BenchmarkResults>
    </Section>
    <BenchmarkResults name="cut off" samples="1">
  </TestCase>
"#;
        assert!(is_in(text));
        let mean = |case: &str, name: &str, ns| CatchMean { test_case: case.into(), name: name.into(), ns };
        let expected =
            [mean("maps & sets", "find <int>", Some(163.25)), mean("maps & sets/inner", "throws", None)];
        assert_eq!(read(text), expected);
        assert!(read("<mean value=\"1\"/></BenchmarkResults>").is_empty());
    }
}
