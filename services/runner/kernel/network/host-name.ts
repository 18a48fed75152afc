/** Returns a host as the entries of an allow list spell it: in lower case, without brackets and final dot. */
export const normalizeHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
