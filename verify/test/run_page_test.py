"""run_page.py fails where it should. Usage: run_page_test.py"""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run_page  # noqa: E402


def run(text, *case):
    """Its exit status and what it prints, of a page with that text."""
    with tempfile.TemporaryDirectory() as work, contextlib.redirect_stdout(io.StringIO()) as said:
        page = pathlib.Path(work, "page.md")
        page.write_text(text)
        try:
            status = run_page.main(page, work, work, "nvcc", *case)
        except SystemExit as e:  # with a message
            print(e)
            status = 1
        return int(status), said.getvalue()


def case(body):
    return run(f"# A page\n\n## A case\n\n{body}", "a_case")


class Says(unittest.TestCase):
    def holds(self, body):
        status, said = case(body)
        self.assertEqual(status, 0, said)

    def fails(self, body, *why):
        status, said = case(body)
        self.assertEqual(status, 1, said)
        for words in why:
            self.assertIn(words, said)

    def test_lines(self):
        self.holds("    $ printf 'a\\nb\\n'\n    a\n    b\n")
        self.holds("    $ printf 'a\\nb'\n    a\n    b\n")  # the last line without its end
        self.fails("    $ printf 'a\\nb\\n'\n    a\n", "it should say\na\nit says\na\nb")
        self.fails("    $ echo a\n    a\n    b\n")
        self.fails("    $ printf 'a\\nb\\n'\n    b\n    a\n")
        self.fails("    $ echo a\n", "it says\na")
        self.fails("    $ echo aa\n    a\n")
        self.fails("    $ true\n    a\n")

    def test_regular_expressions_are_text(self):
        self.holds("    $ echo 'a.*(b'\n    a.*(b\n")
        self.fails("    $ echo axxb\n    a.*b\n")
        self.holds("    $ echo '[]'\n    []\n")

    def test_left_out(self):
        self.holds("    $ echo one two three\n    one ... three\n")
        self.fails("    $ echo one two\n    one ... three\n")
        for shown in ("...", "1\n    ...", "...\n    3", "...\n    2\n    ...", "1\n    ...\n    3", "1\n    2\n    ...\n    3", "...\n    1\n    2\n    3\n    ..."):
            self.holds(f"    $ seq 3\n    {shown}\n")
        for shown in ("...\n    4\n    ...", "1\n    ...\n    2", "...\n    2\n    ...\n    1\n    ...", "2\n    ..."):
            self.fails(f"    $ seq 3\n    {shown}\n")
        self.holds("    $ printf '1\\n2\\n1\\n3\\n'\n    ...\n    1\n    3\n")  # the first 1 is not the one

    def test_blank_lines_in_a_block(self):
        self.holds("    $ printf 'a\\n\\nb\\n'\n    a\n\n    b\n")
        self.fails("    $ printf 'a\\nb\\n'\n    a\n\n    b\n")
        self.holds("    $ printf 'a\\n'\n    a\n\n    $ echo b\n    b\n")

    def test_stderr(self):
        self.holds("    $ echo a >&2\n    a\n")

    def test_status(self):
        self.holds("    $ false\n    [1]\n")
        self.holds("    $ (exit 3)\n    [3]\n")
        self.fails("    $ false\n", "it should end with 0, not 1")
        self.fails("    $ true\n    [1]\n", "it should end with 1, not 0")
        self.fails("    $ (exit 3)\n    [1]\n")
        self.fails("    $ true\n    $ exit 3\n    $ true\n", "the shell ended with 3")

    def test_unchanged(self):
        self.holds("    $ echo a > a; mkdir b; echo c > b/c\n    $ cat a\n    a\n    [unchanged]\n    $ false\n    [1, unchanged]\n")
        self.fails("    $ echo a > a\n    [unchanged]\n", "it should change no file, not a\n")
        self.fails("    $ echo a > a\n    $ echo b > a\n    [unchanged]\n")
        self.fails("    $ mkdir b; echo a > b/a\n    $ rm b/a; false\n    [1, unchanged]\n", "not b/a")
        self.fails("    $ echo a > a\n    $ chmod 700 a\n    [unchanged]\n")
        self.fails("    $ mkdir a\n    [unchanged]\n")
        self.fails("    $ cp . -rT x 2> /dev/null; ln -s a b\n    $ rm b; ln -s c b\n    [unchanged]\n")
        self.fails("    $ true\n    [1, unchanged]\n")

    def test_one_shell(self):
        self.holds("    $ f() {\n    >   echo $a\n    > }\n    $ a=3\n    $ f\n    3\n    $ cat <<E\n    > x\n    > E\n    x\n")
        self.holds("    $ cat\n")  # its input is empty, not the next commands
        self.fails("    $ if\n    $ true\n")

    def test_every_failure_is_told(self):
        self.fails("    $ false\n    $ echo a\n    b\n", "$ false", "$ echo a", "2 failures")

    def test_fill(self):
        self.holds("`f.in`:\n\n    <$1|$2|$1>$3$L\n    %$12\n\n    $ fill f.in 'a&\\b/' \"$(seq 2)\"\n    <a&\\b/|1\n    2|a&\\b/>$L\n    %a&\\b/2\n")

    def test_files(self):
        self.holds("`f.txt`, of two\nlines:\n\n    a\n    b\n\nText.\n\n    $ cat f.txt\n    a\n    b\n")
        for text in ("`f.txt`, no file.", "`f.txt`, no\nfile.", "No `f.txt`:", "No file:\n`f.txt`:"):
            self.fails(f"{text}\n\n    a\n\n    $ cat f.txt\n    a\n")

    def test_skip(self):
        status, said = case("    $ skip no such thing\n    $ false\n")
        self.assertEqual((status, said), (77, "SKIPPED: no such thing\n"))


class Cases(unittest.TestCase):
    page = "# A page\n\n`f.txt`, a file:\n\n    one\n\n      two\n\n    $ a=1\n\n## First, of two\n\n    $ cat f.txt; echo $a; rm f.txt\n    one\n\n      two\n    1\n\n" \
           "## Second\n\n    $ ls; echo $a\n    f.txt\n    1\n    $ a=2; false\n"

    def test_cases(self):
        self.assertEqual(run(self.page, "first_of_two")[0], 0, run(self.page, "first_of_two"))
        self.assertEqual(run(self.page, "second")[0], 1)
        status, said = run(self.page, "third")
        self.assertEqual(status, 1)
        self.assertIn("page.md has no section 'third'", said)

    def test_the_same_name_twice(self):
        self.assertIn("a second 'a_case'", run("## A case\n\n    $ true\n\n## a, case\n\n    $ true\n", "a_case")[1])

    def test_no_commands(self):
        self.assertEqual(run("## A case\n\nNothing.\n", "a_case")[0], 1)

    def test_a_page_for_readers(self):
        self.assertEqual(run("# A page\n\n    $ false\n\n## More\n\n    $ echo a\n    a\n")[0], 0)
        self.assertEqual(run("# A page\n\n    $ false\n    [0]\n")[0], 1)
        self.assertEqual(run("# A page\n\n    $ echo a\n    b\n")[0], 1)
        self.assertEqual(run("# A page\n\n    $ exit 3\n    $ true\n")[0], 1)
        # Shown by '...' alone it works, whatever it says.
        self.assertEqual(run("# A page\n\n    $ echo a; false\n    ...\n")[0], 1)
        self.assertEqual(run("# A page\n\n    $ echo a\n    ...\n    $ echo a; echo b; false\n    a\n    ...\n")[0], 0)
        self.assertEqual(run("# A page\n\n    $ echo a; false\n    ...\n    [1]\n")[0], 0)


unittest.main()
