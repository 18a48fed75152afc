/** What is made, changed and deleted in one way. Its pages and its queries go by the plural. */
export type Noun = 'agent' | 'assistant' | 'environment';

export const pluralOf = <Of extends Noun>(noun: Of) => `${noun}s` as const;

export const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
