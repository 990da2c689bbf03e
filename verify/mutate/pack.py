#!/usr/bin/env python3
"""Puts a built tree's tests and what they read into a folder that can be carried to another machine.

    pack.py TREE SLICE      (then: tar -C SLICE/.. -cJf slice.tar.xz SLICE)
"""
import pathlib
import shutil
import subprocess
import sys

# Pages of commands, each case of which is a test; of README.md and docs/ each page is one.
PAGES = 'verify/test/command'


def main():
    tree, out = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    shutil.rmtree(out, ignore_errors=True)
    (out / 'bin').mkdir(parents=True)
    for test in [tree / 'build/release/bin/bitwell', *(tree / 'build/release/bin').glob('*_test')]:
        subprocess.run(['strip', '-o', out / 'bin' / test.name, test], check=True)
    shutil.copytree(tree / PAGES, out / 'pages')
    (out / 'whole').mkdir()
    for page in [tree / 'README.md', *sorted((tree / 'docs').glob('*.md'))]:
        shutil.copy(page, out / 'whole')
    for script in ['run_page.py', 'npy.py']:
        shutil.copy(tree / 'verify/test' / script, out)
    # What tests read by a path that was compiled in, and pages by $SOURCE.
    for name in ['docs', 'kernels', 'model/budget', 'verify']:
        shutil.copytree(tree / name, out / 'source' / name)
    shutil.copytree(tree / 'build/release/share', out / 'share')  # links are followed
    shutil.copy(tree / 'mutants.tsv', out)
    shutil.copy(pathlib.Path(__file__).parent / 'run.py', out)
    (out / 'tree.txt').write_text(f'{tree}\n')


if __name__ == '__main__':
    main()
