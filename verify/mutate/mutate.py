#!/usr/bin/env python3
"""Writes a tree of sources in which every mutant of some folders of model/ or verify/ is compiled in.

    mutate.py SOURCES COMPILE_COMMANDS TREE FOLDER...    (needs libclang 18.1.1 of PyPI, and clang's own headers)

TREE is a copy of SOURCES (of what git knows there) in which the .cpp files in FOLDER... are mutated; what has been built in
it stays, and a file that is as it was is not compiled again. TREE/mutants.tsv has a line for each mutant: number, file,
line, what it does, and the text that it changes.
"""
import json
import multiprocessing
import pathlib
import re
import shlex
import subprocess
import sys

from clang import cindex
from clang.cindex import CursorKind as K, TypeKind as T

COMPARISONS = {'<': ('less', ['<=', 'not <']), '<=': ('less_equal', ['<', 'not <=']),
               '>': ('greater', ['>=', 'not >']), '>=': ('greater_equal', ['>', 'not >=']),
               '==': ('equal', ['!=']), '!=': ('not_equal', ['=='])}
LOGICAL = {'&&': ('both', ['without the left side', 'without the right side', '||']),
           '||': ('either', ['without the left side', 'without the right side', '&&'])}
ARITHMETIC = {'+': ('plus', '-'), '-': ('minus', '+'), '*': ('times', '+'), '/': ('over', '*'), '%': ('remainder', '/'),
              '&': ('bits_of_both', '|'), '|': ('bits_of_either', '&'), '^': ('bits_of_one', '|'),
              '<<': ('shifted_left', '>>'), '>>': ('shifted_right', '<<')}
ASSIGNMENTS = {'+=': 'adds', '-=': 'takes', '|=': 'joins', '&=': 'keeps_of'}
INTEGERS = {T.BOOL, T.CHAR_U, T.UCHAR, T.USHORT, T.UINT, T.ULONG, T.ULONGLONG, T.CHAR_S, T.SCHAR, T.SHORT, T.INT, T.LONG,
            T.LONGLONG, T.INT128, T.UINT128}
OF_A_FILE = 1000  # numbers of mutants
# What is settled when it is compiled, or is no code.
PRUNED = {K.STATIC_ASSERT, K.ENUM_DECL, K.TEMPLATE_TYPE_PARAMETER, K.TEMPLATE_NON_TYPE_PARAMETER, K.CXX_UNARY_EXPR,
          K.SIZE_OF_PACK_EXPR, K.CONCEPT_DECL, K.TYPE_REF, K.TEMPLATE_REF, K.NAMESPACE_REF, K.TYPEDEF_DECL,
          K.TYPE_ALIAS_DECL, K.USING_DECLARATION}
FUNCTIONS = {K.FUNCTION_DECL, K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR, K.FUNCTION_TEMPLATE, K.CONVERSION_FUNCTION}
STATEMENTS = {K.CALL_EXPR, K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR, K.UNARY_OPERATOR, K.CXX_THROW_EXPR,
              K.CONTINUE_STMT, K.BREAK_STMT}
DECLARATIONS = {K.VAR_DECL, K.FIELD_DECL, K.PARM_DECL}
NOWHERE, PERHAPS_COMPILED, AT_RUN_TIME = range(3)  # in what function something stands


def unwrapped(cursor):
    """The expression inside of what libclang has no kind for."""
    while cursor.kind == K.UNEXPOSED_EXPR:
        children = list(cursor.get_children())
        if len(children) != 1:
            break
        cursor = children[0]
    return cursor


def span(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset


class File:
    def __init__(self, path, name):
        self.text = pathlib.Path(path).read_bytes()
        self.name = name
        self.macros = []
        self.edits = []  # (offset, 0 closing or 1 opening, order, end, text)

    def add(self, offset, text, end=None, closing=False):
        order = -len(self.edits) if closing else len(self.edits)
        self.edits.append((offset, 0 if closing else 1, order, offset if end is None else end, text))

    def mutated(self):
        out, at = [], 0
        for offset, _, _, end, text in sorted(self.edits):
            out += [self.text[at:offset], text.encode()]
            at = end
        return b''.join(out) + self.text[at:]


class Generator:
    def __init__(self):
        self.mutants = []
        self.file = None
        self.next = 0
        self.settled = set()

    def number(self, cursor, changes):
        """The number of the first of as many mutants of what stands at the cursor."""
        start, end = span(cursor)
        text = re.sub(r'\s+', ' ', self.file.text[start:end].decode())
        first = self.next
        for change in changes:
            self.mutants.append((self.next, self.file.name, cursor.extent.start.line, change,
                                 text if len(text) <= 160 else text[:157] + '...'))
            self.next += 1
        return first

    def in_macro(self, start, end):
        return any(start < b and a < end for a, b in self.file.macros)

    def type_of(self, cursor):
        return cursor.type.get_canonical().kind

    def operands(self, cursor):
        """(left, right, operator) of an infix operator, or None."""
        if cursor.kind == K.CALL_EXPR:
            if not cursor.spelling.startswith('operator'):
                return None
            sides = list(cursor.get_arguments())
        else:
            sides = list(cursor.get_children())
        if len(sides) != 2 or any(s is None for s in sides):
            return None
        a, b = sides
        (start, end), (a0, a1), (b0, b1) = span(cursor), span(a), span(b)
        if not (start == a0 and a1 <= b0 and b1 == end):
            return None
        operator = self.file.text[a1:b0].decode()
        at = a1 + len(operator) - len(operator.lstrip())
        return a, b, operator.strip(), at

    def call(self, cursor, name, number, at, operator, right='', end=''):
        start, stop = span(cursor)
        self.file.add(start, f'bitwell::mutate::{name}({number}, ')
        self.file.add(at, ', ' + right, end=at + len(operator))
        self.file.add(stop, end + ')', closing=True)

    def infix(self, cursor, in_function):
        found = self.operands(cursor)
        if not found:
            return
        a, b, operator, at = found
        kind = self.type_of(cursor)
        if operator in COMPARISONS and kind in (T.BOOL, T.DEPENDENT):
            name, changes = COMPARISONS[operator]
            self.call(cursor, name, self.number(cursor, changes), at, operator)
        elif operator in LOGICAL and kind in (T.BOOL, T.DEPENDENT) and in_function:
            name, changes = LOGICAL[operator]
            start, stop = span(cursor)
            self.file.add(start, f'bitwell::mutate::{name}({self.number(cursor, changes)}, static_cast<bool>(')
            self.file.add(at, '), [&] { return static_cast<bool>(', end=at + len(operator))
            self.file.add(stop, '); })', closing=True)
        elif operator in ARITHMETIC and cursor.kind == K.BINARY_OPERATOR:
            # An atomic's conversion is seen only inside.
            if {kind, self.type_of(a), self.type_of(b), self.type_of(unwrapped(a)), self.type_of(unwrapped(b))} <= INTEGERS:
                name, change = ARITHMETIC[operator]
                self.call(cursor, name, self.number(cursor, [change]), at, operator)
        elif operator in ASSIGNMENTS and cursor.kind == K.COMPOUND_ASSIGNMENT_OPERATOR:
            target = unwrapped(a).referenced
            if target is not None and target.kind == K.FIELD_DECL and target.is_bitfield():
                return
            if {self.type_of(a), self.type_of(b)} <= INTEGERS:
                self.call(cursor, ASSIGNMENTS[operator], self.number(cursor, ['=']), at, operator)

    def least_or_most(self, cursor):
        start, end = span(cursor)
        text = self.file.text[start:end].decode()
        match = re.match(r'std::(min|max)(<[\w:]+>)?\(', text)
        if not match or len(list(cursor.get_arguments())) != 2 or self.type_of(cursor) not in INTEGERS | {T.LVALUEREFERENCE}:
            return
        low = match[1] == 'min'
        name = ('least' if low else 'most') + ('' if match[2] else '_of')
        number = self.number(cursor, ['max' if low else 'min'])
        self.file.add(start, f'bitwell::mutate::{name}{match[2] or ""}({number}, ', end=start + match.end())

    def condition(self, cursor):
        """A condition that is no comparison: its negation."""
        inner = unwrapped(cursor)
        start, end = span(cursor)
        if self.in_macro(start, end):
            return
        found = self.operands(inner) if inner.kind in (K.BINARY_OPERATOR, K.CALL_EXPR) else None
        if found and (found[2] in COMPARISONS or found[2] in LOGICAL):
            return
        number = self.number(cursor, ['not'])
        self.file.add(start, f'bitwell::mutate::negated({number}, static_cast<bool>(')
        self.file.add(end, '))', closing=True)

    def may_be_settled(self, start, parents):
        """Whether a compiler may settle a literal beforehand: of a `const` integer, of a list that a `for` runs through."""
        for p in reversed(parents):
            if p.kind == K.LAMBDA_EXPR or p.kind in FUNCTIONS:
                return False
            if p.kind == K.INIT_LIST_EXPR or p.kind in DECLARATIONS:
                return p.kind not in DECLARATIONS or p.location.offset < start
        return False

    def literal(self, cursor, parents, in_function):
        start, end = span(cursor)
        text = self.file.text
        after, before = text[end:].lstrip()[:1], text[start - 1:start]
        if not re.fullmatch(rb"[0-9][0-9a-fA-FxX'uUlLzZ]*|true|false", text[start:end]):
            return  # of an expression that is written elsewhere
        if text[end:end + 1] == b'>' or before == b'<' or self.in_macro(start, end):
            return
        parent = next((p for p in reversed(parents) if p.kind != K.UNEXPOSED_EXPR), None)
        if parent is None or parent.kind in (K.DECL_REF_EXPR, K.MEMBER_REF_EXPR):
            return
        if parent.kind in DECLARATIONS and (start < parent.location.offset or after == b']'):
            return
        if parent.kind == K.BINARY_OPERATOR:
            found = self.operands(parent)
            if found and found[2] in ('<', '<=', '>', '>='):  # the comparison's own mutants
                return
        late = 'at_run_time_' if in_function == AT_RUN_TIME and self.may_be_settled(start, parents) else ''
        if cursor.kind == K.CXX_BOOL_LITERAL_EXPR:
            number = self.number(cursor, ['not'])
            self.file.add(start, f'bitwell::mutate::{late}negated({number}, ')
        else:
            zero = re.fullmatch(rb"(0[xX])?0+[uUlL]*", text[start:end])
            number = self.number(cursor, ['+ 1'] if zero else ['+ 1', '- 1'])
            self.file.add(start, f'bitwell::mutate::{late}constant({number}, ')
        self.file.add(end, ')', closing=True)

    def drop(self, cursor):
        inner = unwrapped(cursor)
        bare = inner.kind == K.RETURN_STMT and not list(inner.get_children())
        if inner.kind not in STATEMENTS and not bare:
            return
        start, end = span(cursor)
        if self.in_macro(start, end) or self.file.text[end:].lstrip()[:1] != b';':
            return
        self.file.add(start, f'if (bitwell::mutate::mutant({self.number(cursor, ["dropped"])})) {{}} else ')

    def says(self, cursor, word):
        return word in self.file.text[cursor.extent.start.offset:cursor.location.offset]

    def compiled_variable(self, cursor):
        if cursor.kind == K.DECL_STMT:  # of several names the first alone begins with the word
            cursor = next(cursor.get_children(), cursor)
        return cursor.kind == K.VAR_DECL and self.says(cursor, b'constexpr')

    def find_settled(self, own):
        """The constexpr functions of this file alone that nothing calls when the program runs."""
        functions, uses, named = {}, [], set()

        def look(cursor, user):
            if cursor.kind == K.FUNCTION_DECL:
                user = cursor.get_usr()
                if cursor.is_definition() and self.says(cursor, b'constexpr') and cursor.linkage == cindex.LinkageKind.INTERNAL:
                    functions[user] = cursor.spelling
            elif cursor.kind in FUNCTIONS:
                user = ''
            elif cursor.kind == K.STATIC_ASSERT or self.compiled_variable(cursor):
                user = None
            children = list(cursor.get_children())
            called = unwrapped(children[0]) if cursor.kind == K.CALL_EXPR and children else None
            if called is not None and called.kind == K.DECL_REF_EXPR and called.referenced is not None:
                uses.append((called.referenced.get_usr(), user))
                children = children[1:]
            elif cursor.kind == K.DECL_REF_EXPR and cursor.referenced is not None:
                uses.append((cursor.referenced.get_usr(), ''))  # a pointer to it
            elif cursor.kind == K.OVERLOADED_DECL_REF:
                named.add(cursor.spelling)  # which one a template calls is not known
            for c in children:
                look(c, user)

        for cursor in own:
            look(cursor, '')
        settled = {f for f, name in functions.items() if name not in named and not name.startswith('operator')}
        while late := {used for used, user in uses if used in settled and user is not None and user not in settled}:
            settled -= late
        return settled

    def visit(self, cursor, parents, in_function):
        kind = cursor.kind
        start, end = span(cursor)
        if kind in PRUNED or self.compiled_variable(cursor) or (kind in FUNCTIONS and cursor.get_usr() in self.settled):
            return
        if kind in FUNCTIONS and 'basic_string' in cursor.result_type.get_canonical().spelling:
            return  # words
        children = list(cursor.get_children())
        here = children
        if kind == K.COMPOUND_STMT:
            for c in children:
                self.drop(c)
        elif kind in (K.IF_STMT, K.WHILE_STMT):
            fixed = re.match(rb'if\s+constexpr', self.file.text[start:end])
            condition = next((i for i, c in enumerate(children) if c.kind.is_expression()), None)
            declares = any(c.kind == K.VAR_DECL for c in children)
            for i, c in enumerate(children):
                if condition is not None and i > condition:
                    self.drop(c)
            if condition is not None and not declares and not fixed:
                self.condition(children[condition])
            if fixed and condition is not None:
                here = children[:condition] + children[condition + 1:]
        elif kind in (K.FOR_STMT, K.CXX_FOR_RANGE_STMT):
            if children:
                self.drop(children[-1])
        elif kind in (K.CASE_STMT, K.DEFAULT_STMT):
            self.drop(children[-1])
            here = children[-1:]
        elif kind == K.CONDITIONAL_OPERATOR and len(children) == 3:
            self.condition(children[0])
        elif kind == K.RETURN_STMT and len(children) == 1 and self.type_of(children[0]) == T.BOOL:
            if unwrapped(children[0]).kind in (K.CALL_EXPR, K.DECL_REF_EXPR, K.MEMBER_REF_EXPR, K.UNARY_OPERATOR):
                self.condition(children[0])
        elif kind == K.CXX_THROW_EXPR:
            return  # words
        if not self.in_macro(start, end):
            if kind in (K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR) or kind == K.CALL_EXPR:
                if in_function:
                    self.infix(cursor, in_function)
                    if kind == K.CALL_EXPR:
                        self.least_or_most(cursor)
            elif kind in (K.INTEGER_LITERAL, K.CXX_BOOL_LITERAL_EXPR) and in_function:
                self.literal(cursor, parents, in_function)
        inside = in_function
        if kind in FUNCTIONS:
            inside = PERHAPS_COMPILED if self.says(cursor, b'constexpr') else AT_RUN_TIME
        elif kind == K.LAMBDA_EXPR:
            inside = in_function or PERHAPS_COMPILED
        for c in here:
            self.visit(c, parents + [cursor], inside)

    def run(self, unit, path, name, first):
        """The text of a file with its mutants, whose numbers start at `first`."""
        self.file, self.next = File(path, name), first
        own = [c for c in unit.cursor.get_children() if c.location.file is not None and c.location.file.name == path]
        self.file.macros = [span(c) for c in own if c.kind == K.MACRO_INSTANTIATION]
        own = [c for c in own if not c.kind.is_preprocessing()]
        self.settled = self.find_settled(own)
        for cursor in own:
            self.visit(cursor, [], NOWHERE)
        return self.file.mutated()


def write(path, data, mode=0o644):
    """Leaves a file alone that says so already: it need not be compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)
        path.chmod(mode)


def compiled(commands):
    """The command of each file that is compiled, by itself or as a part of a unity file."""
    out = {}
    for entry in json.loads(commands.read_text()):
        path = pathlib.Path(entry['file'])
        parts = re.findall(r'#include "(.*\.cpp)"', path.read_text()) if '/Unity/' in entry['file'] else []
        for name in parts or [entry['file']]:
            out[str((path.parent / name).resolve())] = entry
    return out


def of_file(job):
    """A file's name, its text with its mutants, those, and what clang does not understand of it."""
    path, name, arguments, first = job
    unit = cindex.Index.create().parse(path, args=arguments,
                                       options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    errors = [f'{path}: {d}' for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    generator = Generator()
    return name, generator.run(unit, path, str(name), first), generator.mutants, errors[:1]


def main():
    sources, commands, tree = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    folders = sys.argv[4:]
    entries = compiled(commands)
    wanted = sorted(p for f in folders for p in (sources / f).rglob('*.cpp') if str(p) in entries)
    if not wanted:
        sys.exit(f'no file of {", ".join(folders)} stands in {commands}: configure the release tree first')
    all_files = [p for top in ('model', 'verify') for p in sorted((sources / top).rglob('*.cpp'))]  # a file's numbers stay when others change
    own = subprocess.run(['clang', '-print-resource-dir'], capture_output=True, text=True, check=True).stdout.strip()
    jobs = []
    for path in wanted:
        arguments = [a for a in shlex.split(entries[str(path)]['command'])[1:] if a.startswith(('-I', '-D', '-std', '-m'))]
        jobs.append((str(path), path.relative_to(sources), ['-resource-dir', own] + arguments,
                     OF_A_FILE * (1 + all_files.index(path))))
    mutated, mutants, errors = {}, [], []
    with multiprocessing.Pool() as pool:
        for name, text, of_it, wrong in pool.imap(of_file, jobs):
            mutated[name] = text
            mutants += of_it
            errors += wrong
    if errors:  # what stands behind one would have other mutants, or none
        sys.exit('\n'.join(errors))
    known = subprocess.run(['git', 'ls-files', '-z'], cwd=sources, capture_output=True, text=True, check=True).stdout
    for name in (pathlib.Path(n) for n in known.split('\0') if n):
        if (sources / name).is_file() and str(name) != 'CMakeLists.txt':
            write(tree / name, mutated.get(name) or (sources / name).read_bytes(), (sources / name).stat().st_mode)
    # Libraries that have mutants: quick to compile rather than quick; what a mutant turns into may look odd.
    lists = (sources / 'CMakeLists.txt').read_text()
    rooms = re.findall(r'^bitwell_room\((\w+) ([\w/]+)', (sources / 'rooms.cmake').read_text(), re.MULTILINE)
    libraries = [f'bitwell_{name}' for name, folder in rooms if any(p.is_relative_to(folder) for p in mutated)]
    if missing := [p for p in mutated if not any(p.is_relative_to(folder) for _, folder in rooms)]:
        sys.exit(f'rooms.cmake has no room with {missing[0]}')
    write(tree / 'CMakeLists.txt', (lists + f'''
foreach(library {' '.join(libraries)})
  target_compile_options(${{library}} PRIVATE -O1 -w -Wno-narrowing -include ${{PROJECT_SOURCE_DIR}}/verify/mutate/mutant.h)
endforeach()
''').encode())
    with open(tree / 'mutants.tsv', 'w') as listing:
        for row in mutants:
            print(*row, sep='\t', file=listing)
    print(f'{len(mutants)} mutants in {len(mutated)} files')


if __name__ == '__main__':
    main()
