import { isIP } from "node:net";

/** An IP address as a number. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) counts as IPv4. */
interface Address {
  family: 4 | 6;
  value: bigint;
}

/** All addresses that share their first `bits` with `value`. */
export interface AddressRange extends Address {
  bits: number;
}

const WIDTH = { 4: 32, 6: 128 } as const;
const MAPPED_PREFIX = 0xffffn;
const MAPPED_BITS = 96;

/** Parses an address without its zone (`%eth0`). Returns undefined if the text is not an address. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.split("%", 1)[0]!;
  switch (isIP(bare)) {
    case 4:
      return { family: 4, value: valueOfIPv4(bare) };
    case 6: {
      const value = valueOfIPv6(bare);
      return value >> 32n === MAPPED_PREFIX ? { family: 4, value: value & 0xffff_ffffn } : { family: 6, value };
    }
    default:
      return undefined;
  }
}

/** Parses a range in CIDR form. Returns undefined if the text is not a range. */
export function parseRange(text: string): AddressRange | undefined {
  const [, written, length] = /^([0-9A-Fa-f.:]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = written === undefined ? undefined : parseAddress(written);
  if (written === undefined || address === undefined) return undefined;
  // A mapped range such as ::ffff:10.0.0.0/104 counts its bits from the start of the IPv6 address.
  const isMapped = address.family === 4 && written.includes(":");
  const bits = Number(length) - (isMapped ? MAPPED_BITS : 0);
  if (bits < 0 || bits > WIDTH[address.family]) return undefined;
  return { ...address, bits };
}

/** Returns true if the address is in the range. */
export function holds(range: AddressRange, address: Address): boolean {
  if (range.family !== address.family) return false;
  const rest = BigInt(WIDTH[range.family] - range.bits);
  return range.value >> rest === address.value >> rest;
}

/** Returns true if every address of the inner range is in the outer one. */
export function covers(outer: AddressRange, inner: AddressRange): boolean {
  return inner.bits >= outer.bits && holds(outer, inner);
}

/**
 * Returns what counts as one address: the whole of an IPv4 address, the network of an IPv6 address, since each customer
 * has one.
 */
export function addressName(address: string | undefined): string {
  const parsed = parseAddress(address ?? "");
  if (parsed === undefined) return "unknown";
  return parsed.family === 4 ? parsed.value.toString(16) : `${(parsed.value >> 64n).toString(16)}/64`;
}

function valueOfIPv4(text: string): bigint {
  return text.split(".").reduce((value, part) => value * 256n + BigInt(part), 0n);
}

function valueOfIPv6(text: string): bigint {
  const [head, tail] = text.split("::") as [string, string?];
  const before = groupsOf(head);
  const after = groupsOf(tail ?? "");
  const missing = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array.from({ length: missing }, () => 0n), ...after];
  return groups.reduce((value, group) => value * 65_536n + group, 0n);
}

/** Returns the 16-bit groups on one side of `::`; a dotted tail makes two of them. */
function groupsOf(text: string): bigint[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [BigInt(`0x${group}`)];
    const value = valueOfIPv4(group);
    return [value >> 16n, value & 0xffffn];
  });
}
