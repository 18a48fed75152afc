/** An exact number. The denominator is positive; the two may have a factor in common. */
export interface Fraction {
  over: bigint;
  under: bigint;
}

/** Numbers stay small enough to be calculated with in no time. */
const MAX_BITS = 4_096;
/** Of a number whose decimal places never end. */
const SHOWN_DIGITS = 50;

export function fraction(over: bigint, under = 1n): Fraction {
  const signed = under < 0n ? { over: -over, under: -under } : { over, under };
  if (fits(signed.over) && fits(signed.under)) return signed;
  const shared = commonFactor(signed.over < 0n ? -signed.over : signed.over, signed.under);
  const reduced = { over: signed.over / shared, under: signed.under / shared };
  if (fits(reduced.over) && fits(reduced.under)) return reduced;
  throw new Error('the numbers become too large');
}

/** `digits` as they are written: 12, 0.5, .5, 2e3. */
export function decimal(digits: string): Fraction {
  const [, whole = '', part = '', power = '0'] = /^(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(digits) ?? [];
  const exponent = Number(power) - part.length;
  if (Math.abs(exponent) > MAX_BITS) throw new Error('the numbers become too large');
  const over = BigInt(whole + part);
  return exponent < 0 ? fraction(over, 10n ** BigInt(-exponent)) : fraction(over * 10n ** BigInt(exponent));
}

export function negative({ over, under }: Fraction): Fraction {
  return { over: -over, under };
}

export function sum(a: Fraction, b: Fraction): Fraction {
  return fraction(a.over * b.under + b.over * a.under, a.under * b.under);
}

export function product(a: Fraction, b: Fraction): Fraction {
  return fraction(a.over * b.over, a.under * b.under);
}

export function quotient(a: Fraction, b: Fraction): Fraction {
  if (b.over === 0n) throw new Error('a division by zero has no result');
  return fraction(a.over * b.under, a.under * b.over);
}

/** Of a division that is cut off towards zero. */
export function remainder(a: Fraction, b: Fraction): Fraction {
  const { over, under } = quotient(a, b);
  return sum(a, negative(product(b, fraction(over / under))));
}

/** Whole exponents only: no other power of a decimal number is exact. */
export function power(base: Fraction, exponent: Fraction): Fraction {
  if (exponent.over % exponent.under !== 0n) throw new Error('an exponent must be a whole number');
  const times = exponent.over / exponent.under;
  if (times < 0n) return power(quotient(fraction(1n), base), fraction(-times));
  const { over, under } = lowest(base);
  const longest = BigInt(Math.max(bits(over) - 1, bits(under) - 1));
  if (longest * times > MAX_BITS) throw new Error('the numbers become too large');
  // What is left are powers of 0, 1 and -1, which are as good with a small exponent.
  const few = longest === 0n ? times % 2n || (times === 0n ? 0n : 2n) : times;
  return fraction(over ** few, under ** few);
}

export function shown(value: Fraction): string {
  const { over, under } = lowest(value);
  const sign = over < 0n ? '-' : '';
  const size = over < 0n ? -over : over;
  const places = decimalPlaces(under);
  if (places !== undefined) return sign + withPoint((size * 10n ** BigInt(places)) / under, places);
  const kept = size < under ? SHOWN_DIGITS + length(under / size) - 1 : SHOWN_DIGITS - length(size / under);
  return `${sign}${rounded(size, under, Math.max(1, kept))} (rounded)`;
}

function rounded(size: bigint, under: bigint, places: number): string {
  return withPoint((size * 10n ** BigInt(places) * 2n + under) / (under * 2n), places);
}

function length(whole: bigint): number {
  return whole.toString().length;
}

/** How many places the number has behind its point; undefined when they never end. */
function decimalPlaces(under: bigint): number | undefined {
  let rest = under;
  let twos = 0;
  let fives = 0;
  for (; rest % 2n === 0n; twos++) rest /= 2n;
  for (; rest % 5n === 0n; fives++) rest /= 5n;
  return rest === 1n ? Math.max(twos, fives) : undefined;
}

function withPoint(digits: bigint, places: number): string {
  if (places === 0) return digits.toString();
  const text = digits.toString().padStart(places + 1, '0');
  return `${text.slice(0, -places)}.${text.slice(-places)}`.replace(/\.?0+$/, '');
}

function lowest({ over, under }: Fraction): Fraction {
  const shared = commonFactor(over < 0n ? -over : over, under);
  return { over: over / shared, under: under / shared };
}

function commonFactor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a, b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

function bits(value: bigint): number {
  return (value < 0n ? -value : value).toString(2).length;
}

function fits(value: bigint): boolean {
  return bits(value) <= MAX_BITS;
}
