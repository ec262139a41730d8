"""Faults made from the syntax tree, by class.

  factor      a * b becomes a or b; x *= a goes; a / b becomes a
  constant    a number is one more, or one less; one with a point a twentieth more, or less
  comparison  < becomes <= or >=, == becomes !=, and so on; the last turn of a loop is left out
  rounding    MPFR_RNDU becomes MPFR_RNDD, ceil floor, NAME_up NAME_down; true becomes false
  call        a statement that is a call goes, CLO_TRY(...) among them
  guard       the condition of an `if` that returns becomes 0

Left out: what only frees, wipes or tells progress; the text of messages; declarations; what a macro
writes.  A fault is known by file, function and the lines before and after, not by its place: it
keeps its name when code moves (and its row of equivalent.toml, and its place in the sample).
"""
import hashlib
import re
import subprocess
from pathlib import Path

FOLDERS = ("query", "accounting", "ledger", "bound", "random")
# Whether it is done shows in no output: memory is freed or wiped, progress told, a fault planted.
IDLE = re.compile(r"(free|wipe|clear|clears|close|finalize|destroy|progress|munmap|memzero"
                  r"|rollback|planted|taint|witness|init2?|inits2?|assert)\w*\s*\(")
MEMORY = re.compile(r"(clo_i_fail|clo_i_alloc|clo_i_take|clo_i_planted|mem(set|cpy|move)"
                    r"|clo_i_wipe\w*|snprintf|assert|__assert_fail)$")
FLIP = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",),
        "!=": ("==",)}
WORDS = {"MPFR_RNDU": "MPFR_RNDD", "MPFR_RNDD": "MPFR_RNDU", "ceil": "floor", "floor": "ceil",
         "true": "false", "false": "true", "mpfr_nextabove": "mpfr_nextbelow",
         "mpfr_nextbelow": "mpfr_nextabove"}


def arguments_of(shop, output):
    """What libclang needs of a compiler's command."""
    words = shop.commands[output][1]
    resources = subprocess.run(["clang", "-print-resource-dir"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout.strip()
    kept = [w for w in words[1:] if w.startswith(("-D", "-std", "-f")) and "diagnostics" not in w]
    kept += [f"-I{(shop.build / w[2:]).resolve()}" for w in words if w.startswith("-I")]
    return [*kept, f"-I{resources}/include"]


class Source:
    """One file: its bytes, its tree, and the faults found in it."""

    def __init__(self, clang, tree, path, arguments):
        self.path, self.full = path, str(tree / path)
        self.bytes = (tree / path).read_bytes()
        self.kinds = clang.CursorKind
        unit = clang.Index.create().parse(self.full, arguments)
        wrong = [d.spelling for d in unit.diagnostics if d.severity >= clang.Diagnostic.Error]
        if wrong:
            raise RuntimeError(f"{path}: libclang: {wrong[0]}")
        self.unit, self.found = unit, []

    def text(self, start, end):
        return self.bytes[start:end].decode()

    def extent(self, node):
        """Where a node is written, or None where a macro wrote it or a part of it."""
        start, end = node.extent.start, node.extent.end
        if not start.file or start.file.name != self.full or end.offset <= start.offset:
            return None
        return start.offset, end.offset

    def add(self, kind, function, start, end, becomes):
        self.found.append((kind, function, start, end, becomes))

    # ---- classes ------------------------------------------------------------------------------

    def operator(self, node, function):
        """Of a binary operator: its name and the extents of its sides."""
        sides = [self.extent(child) for child in node.get_children()]
        if len(sides) != 2 or None in sides or sides[0][1] > sides[1][0]:
            return None
        name = re.sub(r"/\*.*?\*/|[()\s]", "", self.text(sides[0][1], sides[1][0]), flags=re.S)
        return name, sides

    def binary(self, node, function, in_for):
        whole, parts = self.extent(node), self.operator(node, function)
        if not whole or not parts:
            return
        name, ((a, b), (c, d)) = parts
        if name == "*":
            self.add("factor", function, *whole, self.text(a, b))
            self.add("factor", function, *whole, self.text(c, d))
        elif name == "/":
            self.add("factor", function, *whole, self.text(a, b))
        elif name == "*=":
            self.add("factor", function, *whole, "(void)0")
        elif name in FLIP:
            middle = self.text(b, c)
            if in_for and name == "<":
                self.add("comparison", function, b, c, f" + 1{middle}")
                return
            for other in FLIP[name]:
                self.add("comparison", function, b, c, middle.replace(name, other, 1))

    def number(self, node, function):
        where = self.extent(node)
        if not where:
            return
        text = self.text(*where)
        whole = re.fullmatch(r"(\d+|0[xX][0-9a-fA-F]+)([uUlL]*)", text)
        if whole:
            value = int(whole[1], 16 if whole[1][:2] in ("0x", "0X") else 10)
            self.add("constant", function, *where, f"{value + 1}{whole[2]}")
            if value:
                self.add("constant", function, *where, f"{value - 1}{whole[2]}")
        elif re.fullmatch(r"[0-9a-fA-FxXpP.eE+-]+", text):
            self.add("constant", function, *where, f"(1.05 * {text})")
            self.add("constant", function, *where, f"(0.95 * {text})")

    def statement(self, node, function):
        """A child of a block, or the body of an if or a loop."""
        where = self.extent(node)
        if not where:
            return
        start, end = where
        text = self.text(start, end)
        behind = re.match(rb"\s*;", self.bytes[end:])
        if node.kind == self.kinds.CALL_EXPR and behind and not IDLE.search(text):
            self.add("call", function, start, end, "(void)0")

    def tried(self, function, first, last):
        """CLO_TRY(...); is a macro: found in the text."""
        for match in re.finditer(rb"^\s+(CLO_TRY\()", self.bytes[first:last], re.M):
            start, depth = first + match.start(1), 0
            for at in range(start, last):
                depth += {40: 1, 41: -1}.get(self.bytes[at], 0)
                if self.bytes[at] == 41 and depth == 0:
                    self.add("call", function, start, at + 1, "(void)0")
                    break

    def guard(self, node, function):
        children = list(node.get_children())
        where, whole = self.extent(children[0]), self.extent(node)
        if not where or self.text(*whole)[:2] != "if":
            return  # of CLO_TRY
        body = children[1]
        if body.kind == self.kinds.COMPOUND_STMT:
            body = ([*body.get_children()] or [None])[-1]
        if body is not None and body.kind == self.kinds.RETURN_STMT:
            self.add("guard", function, *where, "0")

    def words(self, function, first, last):
        """Rounding directions are macros and names: found in the text."""
        here = self.bytes[first:last]
        skip = [m.span() for m in re.finditer(rb'/\*.*?\*/|"(?:\\.|[^"\\])*"', here, re.S)]
        for match in re.finditer(rb"\b[A-Za-z_]\w*\b", here):
            if any(a <= match.start() < b for a, b in skip):
                continue
            word = match[0].decode()
            other = WORDS.get(word)
            if not other and re.fullmatch(r"clo_i_\w+_(up|down)|units_(up|down)", word):
                other = re.sub(r"(up|down)$", lambda m: {"up": "down", "down": "up"}[m[0]], word)
                if other.encode() not in self.all_text:
                    other = None
            if other:
                self.add("rounding", function, first + match.start(), first + match.end(), other)

    # ---- the walk -----------------------------------------------------------------------------

    def walk(self, node, function, in_for=False):
        kinds = self.kinds
        for position, child in enumerate(node.get_children()):
            kind = child.kind
            if self.is_idle(node, child):
                continue
            if kind in (kinds.BINARY_OPERATOR, kinds.COMPOUND_ASSIGNMENT_OPERATOR):
                self.binary(child, function, in_for)
            elif kind in (kinds.INTEGER_LITERAL, kinds.FLOATING_LITERAL):
                self.number(child, function)
            elif kind == kinds.IF_STMT:
                self.guard(child, function)
            if node.kind == kinds.COMPOUND_STMT or \
                    (node.kind in (kinds.IF_STMT, kinds.FOR_STMT, kinds.WHILE_STMT) and position):
                self.statement(child, function)
            self.walk(child, function,
                      kind == kinds.FOR_STMT or (in_for and kind == kinds.BINARY_OPERATOR))

    def is_idle(self, node, child):
        """Sizes of arrays and of memory (for AddressSanitizer to hold), messages, assertions."""
        kinds = self.kinds
        if node.kind in (kinds.VAR_DECL, kinds.PARM_DECL, kinds.FIELD_DECL) and \
                "ARRAY" in node.type.kind.name and child.kind != kinds.INIT_LIST_EXPR:
            return True
        if child.kind == kinds.CALL_EXPR and MEMORY.match(child.spelling or ""):
            return True
        return child.kind in (kinds.STRING_LITERAL, kinds.STATIC_ASSERT)

    def faults(self, all_text):
        self.all_text = all_text
        for node in self.unit.cursor.get_children():
            if not node.location.file or node.location.file.name != self.full:
                continue
            where = self.extent(node)
            if re.search(r"(_|^)(free|wipe|fail|clear)", node.spelling):
                continue
            if node.kind == self.kinds.FUNCTION_DECL and node.is_definition() and where:
                self.walk(node, node.spelling)
                self.words(node.spelling, *where)
                self.tried(node.spelling, *where)
            elif node.kind == self.kinds.ENUM_DECL:
                self.walk(node, "")
        return self.found


def as_rows(source, found):
    """Rows of run.py, each known by file, function, and its lines before and after."""
    seen = {}
    for kind, function, start, end, becomes in sorted(set(found), key=lambda f: f[2:]):
        first = source.bytes.rfind(b"\n", 0, start) + 1
        last = source.bytes.find(b"\n", end)
        before = source.text(first, last)
        after = source.text(first, start) + becomes + source.text(end, last)
        known = (str(source.path), function, " ".join(before.split()), " ".join(after.split()))
        seen[known] = number = seen.get(known, 0) + 1
        if before == after or "clo_i_planted" in before:
            continue
        yield {"class": kind, "file": known[0], "function": function, "from": known[2],
               "to": known[3], "number": number, "start": start, "end": end, "text": becomes}


def rows(shop):
    """Every fault of every file, in the order in which a sample takes them: a file after another,
    and within a file as their names hash."""
    from clang import cindex
    outputs = sorted((source, output) for output, (source, _) in shop.commands.items()
                     if "libcloister.a.p" in output and source.parts[0] == "src"
                     and source.parts[1] in FOLDERS)
    all_text = b"".join((shop.tree / source).read_bytes() for source, _ in outputs)
    ranked = []
    for source, output in outputs:
        one = Source(cindex, shop.tree, source, arguments_of(shop, output))
        mine = sorted(as_rows(one, one.faults(all_text)), key=name_hash)
        classes = {}
        for row in mine:  # each class of a file gets its turn
            classes[row["class"]] = turn = classes.get(row["class"], 0) + 1
            ranked.append((turn, name_hash(row), row))
    return [row for _, _, row in sorted(ranked, key=lambda entry: entry[:2])]


def known_by(row):
    return row["file"], row["function"], row["from"], row["to"], row.get("number", 1)


def name_hash(row):
    return hashlib.sha256(repr(known_by(row)).encode()).hexdigest()
