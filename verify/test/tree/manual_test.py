"""`bitwell help` prints the pages of docs/; links between the tree's pages lead somewhere. Usage: manual_test.py BITWELL SOURCE"""
import pathlib
import re
import subprocess
import sys

bitwell, source = sys.argv[1], pathlib.Path(sys.argv[2])
failures = []


def expect(held, what):
    if not held:
        failures.append(what)


def help_of(*names):
    done = subprocess.run([bitwell, "help", *names], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


pages = sorted((source / "docs").glob("*.md"))
status, listed, _ = help_of()
expect(status == 0 and len(pages) >= 11, f"help: status {status}, {len(pages)} pages")
for page in pages:
    title = page.read_text().splitlines()[0].removeprefix("# ")
    expect(re.search(rf"^{re.escape(page.stem)} +{re.escape(title)}$", listed, re.M), f"help does not list {page.stem}, {title}")
    expect(help_of(page.stem) == (0, page.read_text(), ""), f"help {page.stem} does not print the page")
status, said, error = help_of("racess")
expect(status == 2 and said == "" and "did you mean 'races'?" in error, f"help racess: {error}")
# Sections by their headings, in any case, whole: the next one of the same level is not there.
races = (source / "docs" / "races.md").read_text()
section = "## warp-race" + races.split("## warp-race", 1)[1].split("\n## ", 1)[0] + "\n"
expect(help_of("warp-race") == (0, section, ""), f"help warp-race: {help_of('warp-race')}")
limits = (source / "docs" / "limits.md").read_text()
section = "## Why is this a note?" + limits.split("## Why is this a note?", 1)[1].split("\n## ", 1)[0] + "\n"
expect(help_of("why", "is", "this", "a", "note?") == (0, section, ""), "help why is this a note?")
checked = (source / "docs" / "first-verdict.md").read_text().split("\n### What a run checks", 1)[1].split("\n## ", 1)[0]
expect(help_of("What a run checks")[1] == "### What a run checks" + checked + "\n", "a section of a section")
expect(checked in help_of("3. Run it")[1], "a section without those below it")
# A word: where it stands, headings that have it first.
for word, first in (("struct", "launch-file +A struct"), ("lazy", "schedules +The schedules"), ("tcgen05.ld", "source +Where is what in the source."), ("parity", "hangs +Why does my kernel hang.")):
    status, said, error = help_of(word)
    expect(status == 0 and re.match(rf"'{word}' stands in\n", said), f"help {word}: {said}{error}")
    expect(re.search(rf"^  {first}$", said, re.M), f"help {word}: {said}")
expect(help_of("struct")[1].splitlines()[1].split() == ["launch-file", "A", "struct"], f"help struct: {help_of('struct')[1]}")
expect(help_of("azy")[0] == 2, "a piece of a word is no word")
status, said, error = help_of("zzzzzz")
expect(status == 2 and "did you mean" not in error and "bitwell help" in error, f"help zzzzzz: {error}")
expect("Usage: bitwell formats" in help_of("formats")[1], "help of a command")

expect(len((source / "README.md").read_text().splitlines()) <= 120, "README.md is longer than 120 lines")

# Prose is as wide as a screen; tables, and what stands in blocks or is made from tables of the program, may be wider.
for page in [source / "README.md", *pages]:
    written = page.read_text().split("<!-- keys -->")[0].splitlines()
    for number, line in enumerate(written, 1):
        expect(len(line) <= 120 or line.startswith(("|", "    ")), f"{page.name}: line {number} is {len(line)} characters wide")


def anchors(page):
    """As GitHub makes them of headings."""
    out = set()
    for line in page.read_text().splitlines():
        if re.match(r"#+ ", line):
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
            out.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return out


count = 0
for page in [*source.glob("*.md"), *(p for folder in ("docs", "kernels", "verify", "experiments", "notebooks") for p in (source / folder).rglob("*.md"))]:
    for link in re.findall(r"\[[^]]*\]\(([^)\s]+)\)", re.sub(r"^    .*$", "", page.read_text(), flags=re.M)):
        if re.match(r"[a-z]+:", link):
            continue
        count += 1
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        where = f"{page.relative_to(source)} links to {link}"
        expect(target.exists(), f"{where}, which is not there")
        if anchor and target.suffix == ".md" and target.exists():
            expect(anchor in anchors(target), f"{where}, which has no such heading")
expect(count >= 50, f"only {count} links were found")
for failure in failures:
    print("FAILED:", failure)
print(f"{len(pages)} pages, {count} links, {len(failures)} failures")
sys.exit(bool(failures))
