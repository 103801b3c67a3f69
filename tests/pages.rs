//! The page is one that people can use: it shows the numbers of the JSON result, without complaint, in
//! narrow windows, by keyboard, and however long the run was.
//!
//! Pictures of the pages are left in `target/tmp/pages`.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::browser::Browser;
use support::tiny::tiny;
use support::{GCC, Program, assert_golden, sample, scratch, stripe, text, tmp};

/// The page and the JSON of one run of the sample.
fn reported() -> (PathBuf, Value) {
    let folder = scratch(&format!("page-{:?}", std::thread::current().id()));
    let (page, document) = (folder.join("report.html"), folder.join("slice.json"));
    let emissions = [format!("html={}", page.display()), format!("json={}", document.display())];
    let options = ["--expect-match", "sum = 15", "-q", "--emit", &emissions[0], "--emit", &emissions[1]];
    let output = sample(GCC, "").stripe("run", &options);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let document = serde_json::from_str(&fs::read_to_string(document).expect("written")).expect("JSON");
    (page, document)
}

fn picture(name: &str) -> PathBuf {
    tmp().join("pages").join(name)
}

/// Opens the page in each size and colour scheme; each time it must fit and be quiet.
fn look_at(browser: &mut Browser, page: &Path, name: &str) {
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")] {
        browser.open(page, width, scheme);
        browser.picture(&picture(&format!("{name}-{width}-{scheme}.png")));
        let beyond = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert!(beyond.as_i64() <= Some(0), "{name} at {width}: {beyond} pixels too wide");
        assert_eq!(browser.evaluate("document.documentElement.dataset.theme"), scheme);
    }
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

#[test]
fn the_page_fits_and_is_quiet_in_all_sizes_and_colours() {
    look_at(&mut Browser::start(), &reported().0, "report");
}

#[test]
fn the_numbers_of_the_page_are_those_of_the_json() {
    let (page, document) = reported();
    let mut browser = Browser::start();
    browser.open(&page, 1280, "light");
    let stages = "Object.fromEntries([...document.querySelectorAll('#funnel b')].map(b => [b.dataset.key, \
                  Number(b.textContent)]))";
    let mut events = document["events"].clone();
    // The page does not speak of effects that were not tried.
    if document["effects_tried"] == false {
        events.as_object_mut().expect("numbers").remove("kept_for_effect");
    }
    assert_eq!(browser.evaluate(stages), events);
    let lines = "[...document.querySelectorAll('#listing tr[data-line]')].map(r => [r.dataset.line, \
                 r.cells[1].textContent, r.cells[2].textContent]).filter(l => l[1] > 0)";
    let of_document = document["lines"].as_array().expect("lines").iter().map(|line| {
        let place = format!("{}:{}", line["file"].as_str().expect("a file"), line["line"]);
        json!([place, line["executed"].to_string(), line["needed"].to_string()])
    });
    assert_eq!(browser.evaluate(lines), of_document.collect::<Value>());
    let tests =
        format!("{} tests: {} reproduced", document["tests"]["total"], document["tests"]["reproduced"]);
    let verdict = browser.evaluate("document.getElementById('verdict').textContent");
    assert!(verdict.as_str().expect("a text").contains(&tests), "{verdict}");
    let rows = browser.evaluate("document.getElementById('test').max");
    assert_eq!(rows, document["tests"]["total"].to_string());
}

#[test]
fn each_sign_tells_what_happened_without_its_execution() {
    let (page, document) = reported();
    let mut browser = Browser::start();
    browser.open(&page, 1280, "light");
    for event in document["slice"].as_array().expect("a slice") {
        let sign = format!(
            "(() => {{ for (const b of document.querySelectorAll('.dot')) {{ b.click(); const t = \
             document.getElementById('evidence').textContent; if (t.includes('event {}:')) return t; }} }})()",
            event["event"]
        );
        let told = browser.evaluate(&sign);
        let why = event["without"]["why"].as_str().expect("a reason");
        assert!(told.as_str().is_some_and(|told| told.contains(why)), "{event}: {told}");
        let values = event["values"]["told"].as_str().expect("values");
        assert!(told.as_str().is_some_and(|told| told.contains(values)), "{event}: {told}");
    }
}

#[test]
fn the_keyboard_reaches_signs_and_tests() {
    let (page, _) = reported();
    let mut browser = Browser::start();
    browser.open(&page, 1280, "light");
    let focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.id";
    let mut way = Vec::new();
    for _ in 0..8 {
        browser.press("Tab");
        way.push(browser.evaluate(focused).as_str().unwrap_or_default().to_owned());
    }
    let first = "line 6, execution 1 of 1: needed for its effect";
    assert!(way.contains(&"theme".to_owned()) && way.contains(&"hide".to_owned()), "{way:?}");
    assert!(way.contains(&first.to_owned()), "{way:?}");
    assert!(way.contains(&"test".to_owned()), "{way:?}");
    browser.evaluate("document.querySelector('.dot.e').focus()");
    for (key, expected) in
        [("ArrowDown", "line 7, execution 1 of 1"), ("ArrowRight", "line 8, execution 1 of 2")]
    {
        browser.press(key);
        let reached = browser.evaluate(focused);
        assert!(reached.as_str().is_some_and(|label| label.starts_with(expected)), "{key}: {reached}");
    }
    browser.evaluate("document.getElementById('test').focus()");
    browser.press("ArrowRight");
    let told = browser.evaluate("document.getElementById('test-told').textContent");
    assert!(told.as_str().expect("a text").starts_with("Test 2: 0 of 34 executions chosen: not "), "{told}");
    let left_out = browser.evaluate("document.querySelectorAll('.dot.out').length");
    assert_eq!(left_out, browser.evaluate("document.querySelectorAll('.dot').length"));
}

#[test]
fn lines_that_are_not_needed_can_be_hidden() {
    let (page, document) = reported();
    let mut browser = Browser::start();
    browser.open(&page, 1280, "light");
    browser.evaluate("document.getElementById('hide').click()");
    let visible = "[...document.querySelectorAll('#listing tbody tr')].filter(r => r.offsetParent).length";
    let needed = document["lines"].as_array().expect("lines").iter().filter(|line| line["needed"] != 0);
    assert_eq!(browser.evaluate(visible), needed.count());
}

#[test]
fn paper_has_the_whole_listing_in_dark_ink_and_no_controls() {
    let (page, _) = reported();
    let mut browser = Browser::start();
    browser.open(&page, 800, "dark");
    browser.show_on_paper();
    browser.picture(&picture("report-paper.png"));
    let controls = "['theme', 'hide', 'test'].filter(id => document.getElementById(id).offsetParent).length";
    assert_eq!(browser.evaluate(controls), 0);
    assert_eq!(browser.evaluate("getComputedStyle(document.body).color"), "rgb(0, 0, 0)");
    assert_eq!(browser.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
    let cut =
        "document.getElementById('listing').scrollWidth - document.getElementById('listing').clientWidth";
    assert_eq!(browser.evaluate(cut), 0);
}

/// A run of a program of three files, two lines of whose output are wrong: its page.
fn two_wrong_lines() -> PathBuf {
    let folder = scratch(&format!("wrong-lines-{:?}", std::thread::current().id()));
    let filler = "    puts(\"\");\n".repeat(60);
    let sources = [
        (
            "main.c",
            format!(
                "#include <stdio.h>\nint sum(int n);\nint largest(int n);\nint main(void) {{ int n = 3;\n    \
                 printf(\"sum = %d\\n\", sum(n));\n    printf(\"largest = %d\\n\", largest(n));\n{filler}    return \
                 0;\n}}\n"
            ),
        ),
        (
            "sum.c",
            "int sum(int n) { int s = 0;\n    for (int i = 1; i <= n; i++)\n        s += i;\n    return s;\n}\n"
                .to_owned(),
        ),
        ("largest.c", "int largest(int n) { int m = n;\n    m = m + 1;\n    return m;\n}\n".to_owned()),
    ];
    for (name, source) in &sources {
        fs::write(folder.join(name), source).expect("written");
    }
    let compiler = std::process::Command::new("gcc")
        .args(["-g", "-O0", "-o", "wrong", "main.c", "sum.c", "largest.c"])
        .current_dir(&folder)
        .status();
    assert!(compiler.expect("gcc").success());
    fs::write(folder.join("reference"), format!("sum = 6\nlargest = 3\n{}", "\n".repeat(60)))
        .expect("written");
    fs::write(folder.join("in"), "").expect("written");
    let program = Program {
        path: folder.join("wrong"),
        stdin: folder.join("in"),
        directory: folder,
        arguments: Vec::new(),
    };
    let options = [
        "--reference",
        "reference",
        "--criterion",
        "sum=^sum",
        "--criterion",
        "largest=^largest",
        "-q",
        "--emit",
        "html=report.html",
    ];
    let output = program.stripe("run", &options);
    assert!(output.status.success(), "{}", text(&output.stderr));
    program.directory.join("report.html")
}

#[test]
fn the_page_opens_with_the_lines_that_only_wrong_output_needs() {
    let page = two_wrong_lines();
    let mut browser = Browser::start();
    look_at(&mut browser, &page, "wrong-lines");
    browser.open(&page, 1280, "light");
    let listed = "[...document.querySelectorAll('#suspects-list b')].map(b => b.textContent).join(' ')";
    assert_eq!(browser.evaluate(listed), "largest.c:1 largest.c:2 largest.c:3 main.c:6");
    let inside = "document.getElementById('suspects').getBoundingClientRect().bottom < innerHeight / 2";
    assert_eq!(browser.evaluate(inside), true);
    let shown = browser.evaluate("document.getElementById('criterion').textContent");
    assert!(shown.as_str().is_some_and(|shown| shown.contains("largest")), "{shown}");
    let chosen = "document.querySelector('input[name=criterion]:checked').closest('th').textContent";
    let chosen = browser.evaluate(chosen);
    assert!(chosen.as_str().is_some_and(|chosen| chosen.contains("which is wrong")), "{chosen}");
    browser.evaluate("document.querySelectorAll('#suspects-list button')[1].click()");
    let reached = browser.evaluate("document.activeElement.closest('tr').dataset.line");
    assert_eq!(reached, "largest.c:2");
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

#[test]
fn lines_of_several_files_stand_below_the_names_of_their_files() {
    let mut browser = Browser::start();
    browser.open(&two_wrong_lines(), 1280, "light");
    let files = "[...document.querySelectorAll('#criteria-table .file')].map(r => r.textContent).join(' ')";
    assert_eq!(browser.evaluate(files), "largest.c main.c sum.c");
}

#[test]
fn no_column_of_a_comparison_is_cut_on_screens_or_on_paper() {
    let page = two_wrong_lines();
    let mut browser = Browser::start();
    let cut = "(() => { const w = document.querySelector('#criteria .wide'); return w.scrollWidth - w.clientWidth; })()";
    let lengthen = "[...document.querySelectorAll('#criteria-table td')].forEach(c => c.textContent = '\u{25cf}'.repeat(60))";
    for width in [1280, 800] {
        browser.open(&page, width, "light");
        browser.evaluate(lengthen);
        assert_eq!(browser.evaluate(cut), 0, "at {width}");
    }
    browser.show_on_paper();
    assert_eq!(browser.evaluate(cut), 0, "on paper");
}

#[test]
fn pointing_at_a_sign_of_a_long_page_shows_its_evidence_within_the_window() {
    let page = two_wrong_lines();
    let mut browser = Browser::start();
    browser.open(&page, 1280, "light");
    browser.evaluate("document.querySelector('#listing .dot').scrollIntoView({ block: 'start' })");
    browser.evaluate("document.querySelector('#listing .dot').dispatchEvent(new MouseEvent('mouseenter'))");
    let told = browser.evaluate("document.getElementById('evidence').textContent");
    assert!(told.as_str().is_some_and(|told| told.contains("execution 1 of")), "{told}");
    let tall = "document.getElementById('listing').getBoundingClientRect().height > innerHeight";
    assert_eq!(browser.evaluate(tall), true);
    let below = "document.getElementById('evidence').getBoundingClientRect().bottom <= innerHeight + 1";
    assert_eq!(browser.evaluate(below), true);
}

/// Clicks into the middle of a row of the matrix.
fn click_on_row(browser: &mut Browser, row: usize) {
    browser.evaluate(&format!(
        "(() => {{ const c = document.getElementById('cells'); const rows = document.getElementById('test').max; const \
         r = c.getBoundingClientRect(); c.dispatchEvent(new MouseEvent('click', {{ clientX: r.left + 20, clientY: r.top \
         + ({row} + 0.5) * r.height / rows }})); }})()"
    ));
}

/// What the page shows of the row that is open: the options for a replay, what was printed, what differs.
fn opened(browser: &mut Browser) -> (Vec<String>, String, Vec<String>) {
    let again = browser.evaluate("document.querySelector('#test-subset code')?.textContent ?? ''");
    // The whole command stands there: `stripe replay RUN` and the options.
    let again = again.as_str().expect("a command").split(' ').skip(3);
    let again = again.map(|word| word.trim_matches('\'').to_owned());
    let printed = "[...document.querySelectorAll('#printed .line')].map(l => l.textContent + '\\n').join('')";
    let printed = browser.evaluate(printed).as_str().expect("a text").to_owned();
    let differences = "[...document.querySelectorAll('#difference .line')].map(l => \
                       l.querySelector('.sign').textContent.trim() + l.querySelector('.text').textContent)";
    let differences = browser.evaluate(differences);
    let differences = differences.as_array().expect("lines").iter();
    let differences = differences.map(|line| line.as_str().expect("a line").replace('\u{2212}', "-"));
    (again.collect(), printed, differences.filter(|line| line.starts_with(['-', '+'])).collect())
}

/// The lines in which two texts differ, as Debian's `diff` has them.
fn diff(folder: &Path, recorded: &[u8], printed: &[u8]) -> Vec<String> {
    fs::write(folder.join("recorded"), recorded).expect("written");
    fs::write(folder.join("printed"), printed).expect("written");
    let output = std::process::Command::new("diff")
        .args(["-U0", "recorded", "printed"])
        .current_dir(folder)
        .output()
        .expect("diff runs");
    let told = text(&output.stdout);
    let lines = told.lines().skip(2).filter(|line| line.starts_with(['-', '+']));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_click_on_a_test_shows_what_a_replay_of_its_subset_prints() {
    let (page, document) = reported();
    let program = sample(GCC, "");
    let folder = page.parent().expect("a folder").to_owned();
    let mut browser = Browser::start();
    browser.open(&page, 1280, "light");
    let recorded = program.stripe("replay", &[]).stdout;
    assert_eq!(text(&recorded), "a? b? sum = 15\nmul = 0\n");
    let tests = document["tests"]["total"].as_u64().expect("a number") as usize;
    let mut outputs = std::collections::HashSet::new();
    for row in (0..tests).step_by(3).chain([1, tests - 1]) {
        click_on_row(&mut browser, row);
        let number = browser.evaluate("document.getElementById('test-number').textContent");
        assert_eq!(number, (row + 1).to_string());
        let (again, printed, differences) = opened(&mut browser);
        let options = again.iter().map(String::as_str).collect::<Vec<_>>();
        let replayed = program.stripe("replay", &[&options[..], &["--expect-match", "sum = 15"]].concat());
        let lines: String = text(&replayed.stdout).lines().map(|line| format!("{line}\n")).collect();
        assert_eq!(printed, lines, "test {}: {again:?}", row + 1);
        assert_eq!(differences, diff(&folder, &recorded, &replayed.stdout), "test {}: {again:?}", row + 1);
        let told = browser.evaluate("document.getElementById('test-told').textContent");
        let outcome = ["reproduced", "not reproduced", "unresolved"][match replayed.status.code() {
            Some(0) => 0,
            Some(1) => 1,
            _ => 2,
        }];
        assert!(told.as_str().is_some_and(|told| told.contains(&format!("chosen: {outcome}:"))), "{told}");
        outputs.insert(printed);
    }
    assert!(outputs.len() > 4, "{outputs:?}");
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

#[test]
fn an_opened_test_fits_into_all_windows_and_can_be_opened_by_keyboard() {
    let (page, _) = reported();
    let mut browser = Browser::start();
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")] {
        browser.open(&page, width, scheme);
        click_on_row(&mut browser, 9);
        browser.picture(&picture(&format!("opened-{width}-{scheme}.png")));
        let beyond = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert!(beyond.as_i64() <= Some(0), "at {width}: {beyond} pixels too wide");
    }
    for key in ["Enter", " "] {
        browser.open(&page, 1280, "light");
        assert_eq!(browser.evaluate("document.querySelectorAll('#printed .line, #printed .note').length"), 0);
        browser.evaluate("document.getElementById('test').focus()");
        browser.press(key);
        let (again, printed, differences) = opened(&mut browser);
        assert_eq!(again[..3], ["--control", "program", "--keep"], "{key}");
        assert_eq!((&*printed, &differences[..]), ("a? b? sum = 15\nmul = 0\n", &[][..]), "{key}");
    }
    browser.evaluate("document.getElementById('filter-off').click()");
    assert_eq!(browser.evaluate("document.querySelectorAll('#printed .line').length"), 0);
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

#[test]
fn outputs_that_are_long_or_no_text_are_shown_all_the_same() {
    let source = "#include <stdio.h>\nint main(void) { int i = 0;\n    fputs(\"\\033[31m<b>\\xff\\t\\n\", stdout);\n    for \
                  (i = 0; i < 3000; i++) printf(\"%d\\n\", i);\n    fputs(\"oh\\n\", stderr);\n    puts(\"end\");\n    return \
                  0;\n}\n";
    let program = support::tiny::tiny("odd-output", source);
    let options = ["--expect-match", "(?m)^end", "-q", "--control", "trace", "--emit", "html=report.html"];
    let output = program.stripe("run", &options);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut browser = Browser::start();
    browser.open(&program.directory.join("report.html"), 1280, "dark");
    click_on_row(&mut browser, 0);
    let shown = browser.evaluate("document.getElementById('printed').innerText");
    let shown = shown.as_str().expect("a text").to_owned();
    assert!(shown.contains("\\u{1b}[31m<b>\\xff\\t\n0\n1\n"), "{shown}");
    for note in ["Shown are the first 200 of 3002 lines.", "1 byte is spelled", "Standard error", "\noh"] {
        assert!(shown.contains(note), "{note}: {shown}");
    }
    let difference = browser.evaluate("document.getElementById('difference').innerText");
    assert!(difference.as_str().is_some_and(|told| told.matches("None: ").count() == 2), "{difference}");
    click_on_row(&mut browser, 1);
    let (_, printed, differences) = opened(&mut browser);
    assert_eq!(printed, "");
    assert_eq!(differences.len(), 201);
    let below = "document.documentElement.scrollHeight - document.body.getBoundingClientRect().height";
    assert!(browser.evaluate(below).as_f64().is_some_and(|pixels| pixels < 2.0), "nothing lies below");
    browser.picture(&picture("odd-output.png"));
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

/// A program whose runs are long; most of it is needed again and again.
fn long_run(rounds: u32) -> Program {
    let folder = scratch(&format!("long-{rounds}"));
    let source = format!(
        "#include <stdio.h>\nint main(void) {{ unsigned x = 0;\n    for (int i = 0; i < {rounds}; i++) {{\n        x \
         = x + 1;\n        x = x ^ 2;\n    }}\n    printf(\"%u\\n\", x);\n    return 0;\n}}\n"
    );
    fs::write(folder.join("long.c"), source).expect("written");
    let compiler = std::process::Command::new("gcc")
        .args(["-g", "-O0", "-o", "long", "long.c"])
        .current_dir(&folder)
        .status();
    assert!(compiler.expect("gcc").success());
    fs::write(folder.join("in"), "").expect("written");
    Program { path: folder.join("long"), stdin: folder.join("in"), directory: folder, arguments: Vec::new() }
}

#[test]
fn the_page_of_a_long_run_is_small_and_says_what_it_leaves_out() {
    let program = long_run(10_000);
    let output = program.stripe("run", &["--max-tests", "8", "-q", "--emit", "html=report.html"]);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    let page = program.directory.join("report.html");
    let size = fs::metadata(&page).expect("written").len();
    assert!(size < 200_000, "{size} bytes");
    let mut browser = Browser::start();
    look_at(&mut browser, &page, "long");
    let note = browser.evaluate("document.getElementById('search-note').textContent");
    assert_eq!(note, "40005 events share 400 columns.");
}

#[test]
fn the_page_of_a_million_events_opens_at_once_and_tells_their_numbers() {
    let program = long_run(250_000);
    let emit = ["--emit", "html=report.html", "--emit", "json=slice.json"];
    let output = program.stripe("run", &[&["--max-tests", "2", "-q", "--no-save"], &emit[..]].concat());
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    let page = program.directory.join("report.html");
    assert!(fs::metadata(&page).expect("written").len() < 200_000);
    let mut browser = Browser::start();
    look_at(&mut browser, &page, "million");
    let took = browser.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd").as_f64();
    assert!(took.is_some_and(|milliseconds| milliseconds < 3000.0), "{took:?} ms");
    let document = fs::read_to_string(program.directory.join("slice.json")).expect("written");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let stages = "Object.fromEntries([...document.querySelectorAll('#funnel b')].map(b => [b.dataset.key, \
                  Number(b.textContent.replaceAll(',', ''))]))";
    let mut events = document["events"].clone();
    // The page does not speak of effects that were not tried.
    if document["effects_tried"] == false {
        events.as_object_mut().expect("numbers").remove("kept_for_effect");
    }
    assert_eq!(browser.evaluate(stages), events);
    let cut = "[...document.querySelectorAll('#funnel b')].filter(b => b.scrollWidth > b.clientWidth + 1 && b.clientWidth)";
    assert_eq!(browser.evaluate(&format!("{cut}.length")), 0);
    let beyond = "[...document.querySelectorAll('#curve text')].filter(t => t.getBBox().x < 0).length";
    assert_eq!(browser.evaluate(beyond), 0);
}

#[test]
fn a_screen_reader_finds_a_name_for_everything_that_can_be_used() {
    const USED: [&str; 8] = ["button", "checkbox", "combobox", "image", "link", "radio", "region", "slider"];
    let (page, _) = reported();
    let folder = scratch("named-demo");
    let output = stripe().arg("demo").arg(&folder).arg("--html").output().expect("it runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut browser = Browser::start();
    for page in [page, folder.join("report.html")] {
        browser.open(&page, 1280, "light");
        let nodes = browser.accessibility();
        let of = |node: &Value, key: &str| node[key]["value"].as_str().unwrap_or_default().to_owned();
        let used: Vec<(String, String)> = nodes
            .iter()
            .filter(|node| node["ignored"] == false)
            .map(|node| (of(node, "role"), of(node, "name")))
            .filter(|(role, _)| USED.contains(&&role[..]))
            .collect();
        for role in ["button", "checkbox", "combobox", "image", "link", "region", "slider"] {
            assert!(used.iter().any(|(used, _)| used == role), "no {role} in {used:?}");
        }
        let nameless: Vec<_> = used.iter().filter(|(_, name)| name.trim().is_empty()).collect();
        assert!(nameless.is_empty(), "{nameless:?}");
        let headings = nodes.iter().filter(|node| of(node, "role") == "heading").count();
        assert!(headings >= 5, "{headings}");
    }
}

#[test]
fn printing_makes_pages_and_gives_the_colours_back() {
    let (page, _) = reported();
    let mut browser = Browser::start();
    browser.open(&page, 1280, "dark");
    let document = browser.printed();
    let pages = document.windows(12).filter(|bytes| bytes.starts_with(b"/Type /Page\n")).count();
    assert!(document.starts_with(b"%PDF") && (1..20).contains(&pages), "{pages} pages");
    assert_eq!(browser.evaluate("document.documentElement.dataset.theme"), "dark");
}

#[test]
fn the_demo_makes_a_page_of_the_figures_of_the_paper() {
    let folder = scratch("demo-page");
    let output = stripe().arg("demo").arg(&folder).arg("--html").output().expect("it runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = folder.join("report.html");
    assert!(text(&output.stdout).contains(&page.display().to_string()));
    let mut browser = Browser::start();
    look_at(&mut browser, &page, "demo");
    let rows = "[...document.getElementById('criteria-table').rows].map(r => [...r.cells].map(c => \
                c.textContent.trim()).join(' | ')).join('\\n') + '\\n'";
    assert_golden("demo.criteria", browser.evaluate(rows).as_str().expect("a text"));
    browser.evaluate("document.querySelectorAll('input[name=criterion]')[2].click()");
    let kept = browser.evaluate("document.querySelector('[data-key=kept]').textContent");
    assert_eq!(kept, "3");
    browser.evaluate("document.querySelectorAll('.dot.e')[1].focus()");
    let slider =
        "const s = document.getElementById('test'); s.value = 12; s.dispatchEvent(new Event('input'))";
    browser.evaluate(slider);
    let (again, printed, _) = opened(&mut browser);
    let replay = [
        &["replay", "sum-mul", "--stdin", "input.txt"],
        &again.iter().map(String::as_str).collect::<Vec<_>>()[..],
    ];
    let replayed = stripe().args(replay.concat()).current_dir(&folder).output().expect("it runs");
    assert_eq!(printed, text(&replayed.stdout).lines().map(|line| format!("{line}\n")).collect::<String>());
    browser.picture(&picture("demo-product.png"));
}

const CAPITALS: &str = r#"#include <stdio.h>
static int is_capital(char c) {
  return c > 'A' && c <= 'Z';
}
int main(void) {
  const char *words[4] = {"Anna", "met", "Bob", "<b>"};
  int capitals = 0;
  for (int i = 0; i < 4; i++)
    if (is_capital(words[i][0]))
      capitals++;
  for (int i = 0; i < 40; i++)
    words[3] = "<b>";
  printf("<%d> capitals\n", capitals);
  return 0;
}
"#;

/// A located fault as a page, and as JSON.
fn located() -> (PathBuf, Value) {
    let program = tiny("capitals", CAPITALS);
    fs::write(program.directory.join("correct"), "<2> capitals\n").expect("written");
    let written = |format: &str| {
        let options = ["--reference", "correct", "-q", "--format", format];
        let output = program.stripe("locate", &options);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let page = program.directory.join("located.html");
    fs::write(&page, written("html")).expect("written");
    (page, serde_json::from_str(&written("json")).expect("a document"))
}

#[test]
fn a_located_fault_has_its_ranking_beside_the_source_and_a_sign_where_a_change_repairs() {
    let (page, document) = located();
    let mut browser = Browser::start();
    look_at(&mut browser, &page, "located");
    let lines = document["lines"].as_array().expect("lines");
    let ranked = "[...document.querySelectorAll('#ranked > li button b')].map(b => b.textContent)";
    let place = |line: &Value| format!("{}:{}", line["file"].as_str().expect("a file"), line["line"]);
    assert_eq!(browser.evaluate(ranked), lines.iter().take(10).map(place).collect::<Value>());
    // As many signs on each line as executions, or all of them, that a change repairs.
    for line in lines {
        let repairs = line["repairs"].as_array().expect("repairs").iter();
        let right = repairs.filter(|repair| repair["outcome"] == "right");
        let mut events: Vec<&Value> = right.map(|repair| &repair["event"]).collect();
        events.sort_by_key(|event| event.as_u64());
        events.dedup();
        let signs =
            format!("document.querySelectorAll('tr[data-line=\"{}\"] .dot.right').length", place(line));
        assert_eq!(browser.evaluate(&signs), events.len(), "{line}");
    }
    let signs = browser.evaluate("document.querySelectorAll('.dot.right').length");
    assert!(signs.as_u64() >= Some(2), "{signs}");
}

#[test]
fn each_sign_of_a_located_fault_tells_the_change_and_the_difference_that_it_makes() {
    let (page, document) = located();
    let mut browser = Browser::start();
    browser.open(&page, 1280, "light");
    let told = |browser: &mut Browser, id: &str| {
        let found = browser.evaluate(&format!("document.getElementById('{id}').textContent"));
        found.as_str().expect("a text").to_owned()
    };
    let chosen = told(&mut browser, "change");
    assert!(chosen.contains("the output is right. Again: stripe replay … --"), "{chosen}");
    let difference = told(&mut browser, "difference");
    for line in ["−recorded only: <1> capitals", "+not recorded: <2> capitals"] {
        assert!(difference.contains(line), "{difference}");
    }
    let best = document["lines"][0]["line"].clone();
    browser.evaluate("document.querySelector('#ranked button').click()");
    let label = "document.activeElement.getAttribute('aria-label')";
    let reached = browser.evaluate(label);
    let expected = format!("line {best}, ");
    assert!(reached.as_str().is_some_and(|label| label.starts_with(&expected)), "{reached}");
    browser.press("ArrowDown");
    let next = browser.evaluate(label);
    assert!(next.as_str().is_some_and(|label| !label.starts_with(&expected)), "{next}");
    // Of 40 executions 16 are changed one by one, and nothing is claimed of the others.
    let row = "[...document.querySelectorAll('tr[data-line=\"capitals.c:12\"] .dot.none')]";
    let untried = format!("{row}.filter(dot => dot.ariaLabel.endsWith('alone was tried')).length");
    assert_eq!(browser.evaluate(&untried), 24);
    browser.evaluate("document.querySelector('tr[data-line=\"capitals.c:12\"] .dot.none').click()");
    assert!(told(&mut browser, "change").ends_with("no change helps."));
    assert_eq!(told(&mut browser, "difference"), "");
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}
