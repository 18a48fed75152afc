import { isStoredPart, type StoredPart } from '../../../../journal/stored-part.ts';

/** Reads a tool output that is a list of content parts with an image or a file. Undefined for any other output. */
export function contentPartsOf(output: unknown): { text: string; parts: StoredPart[] } | undefined {
  if (!Array.isArray(output) || !output.every(isObject)) return undefined;
  const parts = output.filter(isStoredPart);
  const texts = output.flatMap(textOf);
  if (parts.length === 0 || parts.length + texts.length < output.length) return undefined;
  return { text: texts.join('\n'), parts };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function textOf(part: object): string[] {
  const { type, text } = part as { type?: unknown; text?: unknown };
  return type === 'text' && typeof text === 'string' ? [text] : [];
}
