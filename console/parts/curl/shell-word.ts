/** Quotes a text as one shell word. */
export const shellWord = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
