const EM = 1000;
const WIDTH = 500;
const HEIGHT = 520;
const ASCENT = 900;
const DESCENT = 250;

/**
 * Builds a font (OpenType) in which every character is the same block, half an em wide, and a space is empty. Text then
 * takes the same room on every machine, whatever its fonts.
 */
export function blockFont(): Buffer {
  const block = glyph();
  const tables = {
    "OS/2": os2(),
    cmap: cmap(),
    glyf: block,
    head: numbers("IIIIHHIIIIhhhhHHhhh", [
      0x10000,
      0x10000,
      0,
      0x5f0f3cf5,
      0,
      EM,
      0,
      0,
      0,
      0,
      0,
      0,
      WIDTH,
      HEIGHT,
      0,
      8,
      2,
      0,
      0,
    ]),
    hhea: numbers("IhhhHhhhhhhhhhhhH", [0x10000, ASCENT, -DESCENT, 0, WIDTH, 0, 0, WIDTH, 1, 0, 0, 0, 0, 0, 0, 0, 3]),
    hmtx: numbers("HhHhHh", [WIDTH, 0, WIDTH, 0, WIDTH, 0]),
    loca: numbers("HHHH", [0, 0, block.length / 2, block.length / 2]),
    maxp: numbers("IHHHHHHHHHHHHHH", [0x10000, 3, 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]),
    name: numbers("HHH", [0, 0, 6]),
    post: numbers("IIhhIIIII", [0x30000, 0, -100, 50, 0, 0, 0, 0, 0]),
  };
  const entries = Object.entries(tables);
  const directory = [numbers("IHHHH", [0x10000, entries.length, 128, 3, entries.length * 16 - 128])];
  const contents: Buffer[] = [];
  let offset = 12 + entries.length * 16;
  for (const [name, content] of entries) {
    const padding = Buffer.alloc((4 - (content.length % 4)) % 4);
    directory.push(Buffer.from(name, "latin1"), numbers("III", [0, offset, content.length]));
    contents.push(content, padding);
    offset += content.length + padding.length;
  }
  return Buffer.concat([...directory, ...contents]);
}

/** Big-endian numbers: `I` has 32 bits, `H` 16, and `h` 16 with a sign. */
function numbers(types: string, values: readonly number[]): Buffer {
  const parts = Array.from(types, (type, index) => {
    const part = Buffer.alloc(type === "I" ? 4 : 2);
    if (type === "I") part.writeUInt32BE(values[index]!);
    else if (type === "H") part.writeUInt16BE(values[index]!);
    else part.writeInt16BE(values[index]!);
    return part;
  });
  return Buffer.concat(parts);
}

/** The outline of the block: one contour of four points on the curve. */
function glyph(): Buffer {
  const [left, right] = [40, WIDTH - 40];
  return Buffer.concat([
    numbers("hhhhhHH", [1, left, 0, right, HEIGHT, 3, 0]),
    Buffer.from([1, 1, 1, 1]),
    numbers("hhhhhhhh", [left, 0, right - left, 0, 0, HEIGHT, 0, -HEIGHT]),
    Buffer.alloc(2),
  ]);
}

/** Ranges of characters that share a glyph (format 13): the empty one for spaces, else the block. */
function cmap(): Buffer {
  const groups = [
    [0x20, 0x20, 2],
    [0x21, 0x9f, 1],
    [0xa0, 0xa0, 2],
    [0xa1, 0x10ffff, 1],
  ].flat();
  const header = [0, 1, 3, 10, 12, 13, 0, 16 + groups.length * 4, 0, groups.length / 3];
  return numbers(`HHHHIHHIII${"I".repeat(groups.length)}`, [...header, ...groups]);
}

/** Metrics for the platform: the weight, the width and the height of lines. */
function os2(): Buffer {
  return Buffer.concat([
    numbers("HhHHHhhhhhhhhhhh", [4, WIDTH, 400, 5, 0, 500, 500, 0, 100, 500, 500, 0, 300, 50, 250, 0]),
    Buffer.alloc(10),
    numbers("IIIIIHHHhhhHHIIhhHHH", [
      0,
      0,
      0,
      0,
      0x20202020,
      0x40,
      0x20,
      0xffff,
      ASCENT,
      -DESCENT,
      0,
      ASCENT,
      DESCENT,
      0,
      0,
      HEIGHT,
      HEIGHT,
      0,
      0x20,
      0,
    ]),
  ]);
}
