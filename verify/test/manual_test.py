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
status, said, error = help_of("race")
expect(status == 2 and said == "" and "did you mean 'races'?" in error, f"help race: {error}")
status, said, error = help_of("zzzzzz")
expect(status == 2 and "did you mean" not in error and "bitwell help" in error, f"help zzzzzz: {error}")
expect("Usage: bitwell formats" in help_of("formats")[1], "help of a command")

expect(len((source / "README.md").read_text().splitlines()) <= 120, "README.md is longer than 120 lines")


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
