import ipaddr from "ipaddr.js";
import { isIP } from "node:net";

/** An IP address. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) counts as IPv4. */
type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** All addresses that share their first bits with an address. */
export type AddressRange = readonly [Address, bits: number];

const WIDTH = { ipv4: 32, ipv6: 128 } as const;
const MAPPED_BITS = WIDTH.ipv6 - WIDTH.ipv4;

/** Parses an address without its zone (`%eth0`). Returns undefined if the text is not an address. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.split("%", 1)[0]!;
  switch (isIP(bare)) {
    case 4:
      return ipaddr.IPv4.parse(bare);
    case 6:
      // The library reads ::192.0.2.1 as ::ffff:192.0.2.1.
      return ipaddr.process(bare.replace(/^::(?=\d+\.)/, "0::"));
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
  const isMapped = address.kind() === "ipv4" && written.includes(":");
  const bits = Number(length) - (isMapped ? MAPPED_BITS : 0);
  return bits < 0 || bits > WIDTH[address.kind()] ? undefined : [address, bits];
}

export function holds([start, bits]: AddressRange, address: Address): boolean {
  return start.kind() === address.kind() && address.match(start, bits);
}

/** Returns true if every address of the inner range is in the outer one. */
export function covers(outer: AddressRange, [start, bits]: AddressRange): boolean {
  return bits >= outer[1] && holds(outer, start);
}

/**
 * Returns what counts as one address: the whole of an IPv4 address, the network of an IPv6 address, since each customer
 * has one.
 */
export function addressName(address: string | undefined): string {
  const parsed = parseAddress(address ?? "");
  if (parsed === undefined) return "unknown";
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}/64`;
}
