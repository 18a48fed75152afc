/** How the form of an address is described to operators. IPv6 addresses are in brackets. */
export const ADDRESS = 'host:port';

/** Returns the text if it is an address. The message of the error follows the name of a setting. */
export function parseAddress(text: string): string {
  const [, port] = /^(?:\[[0-9a-f:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/i.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) throw new Error('is not of the form host:port');
  return text;
}

/** Returns addresses separated by commas, without spaces. */
export function parseAddresses(text: string): string {
  return text
    .split(',')
    .map((address) => parseAddress(address.trim()))
    .join(',');
}
