const MIB = 1024 * 1024;

/** Returns a number of bytes with at most one decimal. */
export function shownBytes(bytes: number): string {
  const [divisor, unit] =
    bytes < MIB ? [1024, 'KiB'] : bytes < 1024 * MIB ? [MIB, 'MiB'] : [1024 * MIB, 'GiB'];
  return `${Number((bytes / divisor).toFixed(1))} ${unit}`;
}
