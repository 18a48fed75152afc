/** Kinds of resources that share the editor. Their routes and query keys use the plural. */
export type ResourceNoun = 'agent' | 'assistant' | 'environment';

export const pluralOf = <Of extends ResourceNoun>(noun: Of) => `${noun}s` as const;

export const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
