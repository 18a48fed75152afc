import { toStorable } from '../../../../lib/text.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

const ID = /^[\x21-\x7e]{1,255}$/;
const MAX_NAME = 200;
const utf8 = new TextDecoder('utf-8');

/** Undefined for bytes that are no JSON object. */
export function parseObject(text: Uint8Array | string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(typeof text === 'string' ? text : utf8.decode(text));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Readers of untrusted members. A member of another type counts as absent. Texts can be stored. */
export const objectIn = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textIn = (value: unknown): string => (typeof value === 'string' ? toStorable(value) : '');

export function nameIn(value: unknown): string {
  return textIn(value).slice(0, MAX_NAME).toWellFormed();
}

/** Numbers are ids as well. Ids of products are short and have only visible ASCII characters. */
export function idIn(value: unknown): string {
  const text = Number.isSafeInteger(value) ? String(value) : textIn(value);
  return ID.test(text) ? text : '';
}

export function sizeIn(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** Undefined for a number that is no time. */
export function dateIn(milliseconds: number): Date | undefined {
  const isValid = milliseconds > 0 && milliseconds < Date.UTC(9999, 0);
  return isValid ? new Date(Math.floor(milliseconds)) : undefined;
}
