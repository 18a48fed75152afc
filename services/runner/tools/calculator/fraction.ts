import { ToolError } from '../../tool-calls/tool-error.ts';

/** An exact number. The denominator is positive; numerator and denominator may have a common factor. */
export interface Fraction {
  numerator: bigint;
  denominator: bigint;
}

/** Size limit of numerators and denominators, so that every operation is fast. */
const MAX_BITS = 4_096;
/** Significant digits of a number that has no finite decimal expansion. */
const SHOWN_DIGITS = 50;

/** Throws a ToolError when the reduced fraction exceeds MAX_BITS. */
function fraction(numerator: bigint, denominator = 1n): Fraction {
  const signed =
    denominator < 0n ? { numerator: -numerator, denominator: -denominator } : { numerator, denominator };
  if (fits(signed)) return signed;
  const reduced = reduce(signed);
  if (fits(reduced)) return reduced;
  throw tooLarge();
}

/** Parses decimal notation: 12, 0.5, .5, 2e3. */
export function decimal(digits: string): Fraction {
  const [, whole = '', part = '', power = '0'] = /^(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(digits) ?? [];
  const exponent = Number(power) - part.length;
  if (Math.abs(exponent) > MAX_BITS) throw tooLarge();
  const numerator = BigInt(whole + part);
  return exponent < 0
    ? fraction(numerator, 10n ** BigInt(-exponent))
    : fraction(numerator * 10n ** BigInt(exponent));
}

export function negative({ numerator, denominator }: Fraction): Fraction {
  return { numerator: -numerator, denominator };
}

export function sum(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);
}

export function product(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.numerator, a.denominator * b.denominator);
}

export function quotient(a: Fraction, b: Fraction): Fraction {
  if (b.numerator === 0n) throw new ToolError('Division by zero.');
  return fraction(a.numerator * b.denominator, a.denominator * b.numerator);
}

/** The remainder of a division that truncates towards zero. */
export function remainder(a: Fraction, b: Fraction): Fraction {
  const { numerator, denominator } = quotient(a, b);
  return sum(a, negative(product(b, fraction(numerator / denominator))));
}

/** Accepts only whole exponents: other powers of a decimal number are not exact. */
export function power(base: Fraction, exponent: Fraction): Fraction {
  if (exponent.numerator % exponent.denominator !== 0n)
    throw new ToolError('The exponent must be a whole number.');
  const times = exponent.numerator / exponent.denominator;
  if (times < 0n) return power(quotient(fraction(1n), base), fraction(-times));
  const { numerator, denominator } = reduce(base);
  const bits = BigInt(Math.max(bitLength(numerator) - 1, bitLength(denominator) - 1));
  if (bits * times > MAX_BITS) throw tooLarge();
  // Powers of 0, 1 and -1 depend only on whether the exponent is zero, odd or even.
  const small = bits === 0n ? times % 2n || (times === 0n ? 0n : 2n) : times;
  return fraction(numerator ** small, denominator ** small);
}

/** Decimal notation: exact, or rounded to SHOWN_DIGITS digits and marked "(rounded)". */
export function toDecimalText(value: Fraction): string {
  const { numerator, denominator } = reduce(value);
  const sign = numerator < 0n ? '-' : '';
  const size = absolute(numerator);
  const places = decimalPlaces(denominator);
  if (places !== undefined) return sign + withPoint((size * 10n ** BigInt(places)) / denominator, places);
  const kept =
    size < denominator
      ? SHOWN_DIGITS + digitCount(denominator / size) - 1
      : SHOWN_DIGITS - digitCount(size / denominator);
  return `${sign}${rounded(size, denominator, Math.max(1, kept))} (rounded)`;
}

function rounded(size: bigint, denominator: bigint, places: number): string {
  return withPoint((size * 10n ** BigInt(places) * 2n + denominator) / (denominator * 2n), places);
}

function digitCount(whole: bigint): number {
  return whole.toString().length;
}

/** The number of decimal places; undefined when the expansion is infinite. */
function decimalPlaces(denominator: bigint): number | undefined {
  let rest = denominator;
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

function reduce({ numerator, denominator }: Fraction): Fraction {
  const shared = commonFactor(absolute(numerator), denominator);
  return { numerator: numerator / shared, denominator: denominator / shared };
}

function commonFactor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a, b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function bitLength(value: bigint): number {
  return absolute(value).toString(2).length;
}

function fits({ numerator, denominator }: Fraction): boolean {
  return bitLength(numerator) <= MAX_BITS && bitLength(denominator) <= MAX_BITS;
}

function tooLarge(): ToolError {
  return new ToolError('The numbers become too large.');
}
