import { crc32, deflateSync, inflateSync } from "node:zlib";

/** A picture without transparency: three bytes for each pixel, row by row. */
export interface Picture {
  width: number;
  height: number;
  pixels: Uint8Array;
}

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
/** Bytes of a pixel by the color type: gray, RGB and RGBA. */
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 6: 4 };

/** Reads a PNG with 8 bits for each channel, as browsers write them (https://www.w3.org/TR/png-3/). */
export function readPng(bytes: Buffer): Picture {
  const parts: Buffer[] = [];
  let [width, height, channels] = [0, 0, 0];
  for (let at = SIGNATURE.length; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    const data = bytes.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      channels = CHANNELS[data[9]!] ?? 0;
      if (data[8] !== 8 || channels === 0 || data[12] !== 0) throw new Error("a PNG of an unknown kind");
    } else if (type === "IDAT") parts.push(data);
    at += length + 12;
  }
  const rows = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, height, channels);
  const pixels = new Uint8Array(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (let channel = 0; channel < 3; channel++) {
      pixels[3 * pixel + channel] = rows[pixel * channels + (channels === 1 ? 0 : channel)]!;
    }
  }
  return { width, height, pixels };
}

/** Each row begins with its filter, which predicts a byte from those to the left and above. */
function unfiltered(raw: Buffer, rowBytes: number, height: number, channels: number): Uint8Array {
  const rows = new Uint8Array(rowBytes * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (rowBytes + 1)]!;
    const start = y * rowBytes;
    for (let x = 0; x < rowBytes; x++) {
      const left = x < channels ? 0 : rows[start + x - channels]!;
      const above = y === 0 ? 0 : rows[start + x - rowBytes]!;
      const corner = x < channels || y === 0 ? 0 : rows[start + x - rowBytes - channels]!;
      rows[start + x] = raw[y * (rowBytes + 1) + 1 + x]! + prediction(filter, left, above, corner);
    }
  }
  return rows;
}

function prediction(filter: number, left: number, above: number, corner: number): number {
  if (filter < 3) return [0, left, above][filter]!;
  if (filter === 3) return (left + above) >> 1;
  const [toLeft, toAbove, toCorner] = [above - corner, left - corner, left + above - 2 * corner].map(Math.abs);
  if (toLeft! <= toAbove! && toLeft! <= toCorner!) return left;
  return toAbove! <= toCorner! ? above : corner;
}

export function writePng({ width, height, pixels }: Picture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const raw = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0; y < height; y++) {
    // Filter 1: the difference to the pixel on the left, which is mostly 0.
    const at = y * (width * 3 + 1);
    raw[at] = 1;
    for (let x = 0; x < width * 3; x++) {
      raw[at + 1 + x] = pixels[y * width * 3 + x]! - (x < 3 ? 0 : pixels[y * width * 3 + x - 3]!);
    }
  }
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(raw, { level: 9 })), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
