#!/usr/bin/env python3
"""Makes pass_hash.csv: what the pass hash of flow.T2 is of files of some lengths, in Python's own
integers and from the formulas of the proof; it shares no code with cloister.

Key and files are bytes of a simple generator, which the test writes again.  Run it by hand; the
test only reads the table.
"""
import csv
import pathlib

BLOCK, WORD, SUMS = 4096, 8, 2
LISTS = [[], [0], [1], [15], [16], [4095], [4096], [4097], [100_000], [1_000_001], [0, 0], [7, 0],
         [0, 7], [4096, 4096], [8192], [5000, 1, 12_345]]


def stream(seed):
    """Bytes, one after the other."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 56


def take(source, count):
    return bytes(next(source) for _ in range(count))


def words(data):
    return [int.from_bytes(data[i:i + WORD], "little") for i in range(0, len(data), WORD)]


def nh(block, key):
    pairs = zip(block[0::2], block[1::2], key[0::2], key[1::2])
    return sum((a + x) % 2**64 * ((b + y) % 2**64) for a, b, x, y in pairs) % 2**128


def poly1305(message, key):
    r = int.from_bytes(key[:16], "little") & 0x0ffffffc0ffffffc0ffffffc0fffffff
    total = 0
    for i in range(0, len(message), 16):
        total = (total + int.from_bytes(message[i:i + 16] + b"\1", "little")) * r % (2**130 - 5)
    return ((total + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


def pass_hash(files, key):
    nh_key, message = words(key[:BLOCK + 16]), b""
    for data in files:
        padded = data + bytes(-len(data) % BLOCK)
        for i in range(0, len(padded), BLOCK):
            block = words(padded[i:i + BLOCK])
            for shift in range(SUMS):
                sum_key = nh_key[2 * shift:2 * shift + BLOCK // WORD]
                message += nh(block, sum_key).to_bytes(16, "little")
        message += len(data).to_bytes(8, "little")
    return poly1305(message, key[BLOCK + 16:])


def main():
    key = take(stream(1), BLOCK + 16 + 32)
    with open(pathlib.Path(__file__).with_name("pass_hash.csv"), "w", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["lengths", "pass_hash"])
        for lengths in LISTS:
            source = stream(2)
            files = [take(source, length) for length in lengths]
            rows.writerow([";".join(map(str, lengths)), pass_hash(files, key).hex()])


if __name__ == "__main__":
    main()
