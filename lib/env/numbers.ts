export interface Range {
  min: number;
  max: number;
  unit?: string;
}

export function describeRange({ min, max, unit }: Range): string {
  return `a whole number from ${min} to ${max}${unit ? ` (${unit})` : ''}`;
}

export function wholeNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || value < min || value > max) throw new Error('is not a number in this range');
  return value;
}
