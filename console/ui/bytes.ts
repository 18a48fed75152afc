const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

/** Formats an exact number of bytes. */
export const exactBytes = (bytes: number): string =>
  `${bytes.toLocaleString('en')} ${bytes === 1 ? 'byte' : 'bytes'}`;

/** Formats a number of bytes with a binary unit. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  let size = bytes;
  let unit = '';
  for (const next of UNITS) {
    if (size < 1_024) break;
    size /= 1_024;
    unit = next;
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}
