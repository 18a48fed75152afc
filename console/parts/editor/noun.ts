/** Kinds of resources that share the editor. */
export type ResourceNoun = 'agent' | 'assistant' | 'environment' | 'vault' | 'MCP server' | 'skill';

type CollectionOf<Of extends ResourceNoun> = Of extends 'MCP server' ? 'mcp-servers' : `${Of}s`;

export const pluralOf = <Of extends ResourceNoun>(noun: Of) => `${noun}s` as const;

/** The name of the collection in routes and query keys. */
export const collectionOf = <Of extends ResourceNoun>(noun: Of) =>
  (noun === 'MCP server' ? 'mcp-servers' : `${noun}s`) as CollectionOf<Of>;

export const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
