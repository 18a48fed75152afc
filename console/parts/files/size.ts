const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'] as const;
const STEP = 1024;
const whole = new Intl.NumberFormat('en');

export const numberText = (number: number): string => whole.format(number);

export const exactSize = (bytes: number): string =>
  `${whole.format(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}`;

/** How large something is, in a few characters. */
export function sizeText(bytes: number): string {
  if (bytes < STEP) return `${bytes} B`;
  let size = bytes / STEP;
  let unit = 0;
  while (size >= STEP && unit < UNITS.length - 1) {
    size /= STEP;
    unit++;
  }
  return `${size.toFixed(size < 10 ? 1 : 0)} ${UNITS[unit]}`;
}
