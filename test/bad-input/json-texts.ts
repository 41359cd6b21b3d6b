/** Texts by what they test. A buffer is not valid UTF-8. */
export type JsonTexts = Record<string, readonly (string | Buffer)[]>;

/** Splits a template into texts at three spaces or a line break. Backslashes are literal. */
const texts = ({ raw }: TemplateStringsArray) => raw[0]!.trim().split(/ {3,}|\n\s*/);
const bytes = (text: string) => Buffer.from(text, "latin1");
const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const deepObjects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

/** Texts that the grammar of RFC 8259 rejects. */
export const INVALID: JsonTexts = {
  "no value": [...texts`,   :   ]   }   \u0031`, " ", "\t\n\r ", "\\"],
  "more than one value": texts`1 2   {}{}   [][]   """"   1,   1,2   [],   {},   null:1   [1]]   {}}   [1]x   {}#`,
  message: texts`nul   nulll   Null   NULL   tru   True   fals   FALSE   undefined   None   NaN   -NaN   Infinity`,
  "other words": texts`-Infinity   inf   a   yes   ∞   new Date()   nu ll   tr\u0075e`,
  "signs of numbers": texts`-   +   +1   --1   ++1   -+1   +-1   - 1   -a   1-   1+1   −1`,
  "leading zeros": texts`00   01   -00   -01   00.5   012e3   0 1`,
  "points of numbers": texts`.   -.   .1   -.1   1.   -1.   0.   1..2   1.2.3   1.a   1 .5   1. 5   1,5`,
  "exponents of numbers": texts`1e   1E   0e   1e+   1E-   1.e1   2.e+3   .e1   1e1.5   1e1e1   1eE1   1e+-1   e1   1 e1   1e 1`,
  "numbers of other languages": texts`0x10   0X1F   0b1   0o7   1_000   1 000   1n   1f   1L   1a   #1   $1   1%   1/2   ٣   １   1e٣`,
  "strings without an end, or a beginning": texts`"   "a   a"   "\"   "\\\"   "a"b"   ""a   "a""`,
  "quotes of other languages": [...texts`'a'   “a”   «a»   "a'   """a"""   u"a"   \u0022a\u0022`, "`a`"],
  "escapes that do not exist": [
    ...texts`"\x41"   "\a"   "\v"   "\e"   "\0"   "\1"   "\'"   "\ "   "\é"   "\😀"   "\U0041"   "\N"`,
    '"\\\n"',
  ],
  "Unicode escapes that are cut off or malformed": texts`
    "\u"   "\u1"   "\u12"   "\u123"   "\u00G1"   "\u 041"   "\u+041"   "\u-041"   "\u0x41"   "\u{41}"
    "\ud83d\u"   "\ud83d\ude0"   "\u１２３４"
  `,
  "control characters in a string": [
    '"\0"',
    '"\u0001"',
    '"\b"',
    '"\t"',
    '"\n"',
    '"\v"',
    '"\f"',
    '"\r"',
    '"\r\n"',
    '"\u001b[31m"',
    '"\u001f"',
    '{"a\n":1}',
  ],
  arrays: texts`
    [   [1   [1,   [,   [,]   [,1]   [1,]   [1,,2]   [1,,]   [1 2]   [1;2]   [1:2]   [1}   [[1]   [{]   [{}
    ["a"   ["a":1]   (1)   <1>   [1...]   [*]
  `,
  objects: texts`
    {   {]   {,}   {"a"   {"a"}   {"a":   {"a":}   {"a":1   {"a":1,   {"a":1,}   {"a":1,,"b":2}   {,"a":1}
    {"a":1 "b":2}   {"a":1;"b":2}   {"a":1]   {"a":[}
  `,
  members: texts`
    {"a" 1}   {"a",1}   {"a"=1}   {"a"=>1}   {"a"::1}   {"a":1:2}   {"a":b}   {"a":1,b:2}   {"a":1,"b"}
    {"a":1,"b":}
  `,
  "keys that are not strings": texts`{a:1}   {'a':1}   {1:1}   {null:1}   {:1}   {[]:1}   {{}:1}   {...a}   {a}   {"\x":1}   {-"a":1}`,
  "spaces that JSON does not know": [
    "\u00a01",
    "1\u0085",
    "\u20281",
    "1\u2029",
    "\u30001",
    "\u200b1",
    "\v1",
    "\f1",
    "\b1",
    "\u001e1",
    "1\0",
    "[\u00a0]",
    "\\n1",
  ],
  comments: [
    ...texts`/**/1   1/**/   1//   1 # one   <!-- -->1   [1,/**/2]   {"a":1/**/}   {/**/"a":1}`,
    "//1\n1",
    "#1\n1",
    "-- one\n1",
  ],
  "byte order marks": ["\ufeff1", "\ufeff{}", "{}\ufeff", "\ufeff", "[\ufeff]"],
  "other encodings": [
    Buffer.from('{"a":1}', "utf16le"),
    Buffer.from('\ufeff{"a":1}', "utf16le"),
    bytes('\xfe\xff\0{\0"'),
    bytes("\0{\0}"),
    bytes("{\0\0\0}\0\0\0"),
    bytes('"\xe9"'),
    bytes("\x1f\x8b\x08\0"),
  ],
  "UTF-8 that is malformed": [
    "\x80",
    "\xc3",
    "\xe2\x82",
    "\xf0\x9f\x98",
    "\xc0\xaf",
    "\xe0\x80\xaf",
    "\xf0\x80\x80\xaf",
    "\xed\xa0\x80",
    "\xed\xa0\xbd\xed\xb8\x80",
    "\xf4\x90\x80\x80",
    "\xf8\x88\x80\x80\x80",
    "\xfe",
    "\xff",
  ].map((text) => bytes(`"${text}"`)),
  "nesting without an end": [
    "[".repeat(32),
    "[".repeat(100_000),
    '{"a":'.repeat(32),
    '[{"a":'.repeat(50_000),
    `${deep(20)}]`,
    "]".repeat(100_000),
    `[${deep(20)}`,
  ],
};

/** Texts that both the grammar and the platform accept. */
export const VALID: JsonTexts = {
  message: ["null", "true", "false"],
  integers: texts`0   -0   1   -1   10   123456789   9007199254740991   -9007199254740991`,
  fractions: [
    "0.0",
    "-0.0",
    "0.1",
    "-0.5",
    "123.456",
    "0.30000000000000004",
    "9007199254740991.0",
    `0.25${"0".repeat(60)}`,
  ],
  exponents: texts`0e0   0E+9   1e1   1E1   1e+1   1E-1   1.5e-3   1e015   9e15   5e-324   100e-2`,
  strings: [
    '""',
    '" "',
    '"a"',
    '"é"',
    '"€"',
    '"😀"',
    '"日本語"',
    '"null"',
    '"[1,{"',
    '"/* no comment */"',
    '"\'"',
    `"${"a".repeat(100_000)}"`,
  ],
  "characters of Unicode that are invisible": [
    '"\u2028\u2029"',
    '"\ufeff"',
    '"\u200b"',
    '"\ue000"',
    '"\uffff"',
    '"\u{10ffff}"',
    '"\u{1f1e6}\u0301"',
  ],
  escapes: texts`
    "\""   "\\"   "\/"   "\n\r\t"   "\u0041"   "\u00E9"   "\u00e9"   "\u0022"   "\u005c"   "\u2028"
    "\uFFFF"   "\ud83d\ude00"   "\uD83D\uDE00"
  `,
  "backslashes before what looks like an escape": texts`"\\u0000"   "\\ud800"   "\\b"   "\\\""`,
  arrays: ["[]", "[[]]", "[[],[]]", "[1,2]", "[null]", '[1,"1",true,[],{}]', deep(32)],
  objects: [
    "{}",
    '{"a":{}}',
    '{"":1}',
    '{"a":1,"A":2}',
    '{" ":1,"":2}',
    '{"\\u0061":1}',
    '{"é":1,"e\u0301":2}',
    '{"1":1,"01":2}',
    deepObjects(32),
  ],
  "the same key in different objects": texts`{"a":{"a":1}}   [{"a":1},{"a":1}]   {"a":{"b":1},"c":{"b":1}}   {"a":["a","a"]}`,
  "keys that every object of JavaScript has": texts`{"constructor":1}   {"toString":1,"valueOf":2}   {"hasOwnProperty":1}   {"__defineGetter__":1}`,
  "spaces that JSON knows": [
    " 1 ",
    "\t\n\r 1\r\n\t ",
    "[ 1 , 2 ]",
    '{ "a" : 1 }',
    "[\n]",
    "{\t}",
    '\n{\n"a"\n:\n1\n}\n',
  ],
};

interface Policy {
  /** The platform's error. */
  detail: RegExp;
  texts: readonly string[];
}

/** Texts that the grammar accepts and the platform rejects, by reason. */
export const REJECTED_BY_POLICY: Record<string, Policy> = {
  "a key given twice, since parsers differ on which one counts": {
    detail: /is repeated/,
    texts: texts`
    {"a":1,"a":1}   {"a":1,"b":2,"a":3}   {"a":1,"\u0061":2}   {"":1,"":2}   [{"a":1,"a":2}]
    {"a":{"b":1,"b":1}}   {"a":1,"b":{"c":1},"a":2}   {"\"":1,"\u0022":2}
  `,
  },
  "more than 32 levels, since readers that recurse overflow": {
    detail: /nested deeper than 32 levels/,
    texts: [deep(33), deepObjects(33), deep(100_000), `${"[".repeat(32)}{}${"]".repeat(32)}`, `[[],${deep(32)}]`],
  },
  "a number of more than 64 characters": {
    detail: /more than 64 characters/,
    texts: [
      "1".repeat(65),
      `0.${"3".repeat(63)}`,
      `1e${"0".repeat(63)}`,
      `-${"0.0".padEnd(64, "0")}`,
      "9".repeat(100_000),
    ],
  },
  "a number that would be rounded, or be infinite": {
    detail: /is too large to be stored exactly|would be rounded to/,
    texts: texts`
    9007199254740992   -9007199254740992   9007199254740993   123456789012345678901   1e16   1e308   1e309
    -1e400   1E9999   9007199254740990.5   4503599627370497.75
    1.00000000000000000001e0   9007199254740990.5e0   1e-400   -1E-324   0.12345678901234567891   1e-5000000000
  `,
  },
  "half of a surrogate pair, which UTF-8 cannot hold": {
    detail: /half of a surrogate pair/,
    texts: texts`
    "\ud800"   "\udbff"   "\udc00"   "\uDFFF"   "\ude00\ud83d"   "\ud83d\ud83d"   "\ud83da"   "\ud83d\u0041"
    "\ud83d\n"   {"\ud800":1}   "\ud83d \ude00"
  `,
  },
  "a control character, which moves terminals and ends lines of logs": {
    detail: /control character/,
    texts: [
      ...texts`
    "\u0000"   "\u0007"   "\b"   "\f"   "\u000b"   "\u001B"   "\u001f"   "\u007f"   "\u0080"   "\u009f"
    {"\u0000":1}
  `,
      '"\u007f"',
      '"\u0085"',
      '"\u009b"',
    ],
  },
  "a key that reaches the prototype of an object": {
    detail: /The key "(__proto__|prototype)" is not allowed/,
    texts: texts`{"__proto__":1}   {"prototype":1}   {"\u005f_proto__":1}   {"a":{"__proto__":{}}}   [{"prototype":null}]`,
  },
};
