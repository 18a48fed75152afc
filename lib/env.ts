import { ADDRESS, parseAddress, parseAddresses } from './env/address.ts';
import {
  BASE_URL,
  ENDPOINTS,
  KEY,
  KEYS,
  parseBaseUrl,
  parseEndpoints,
  parseKey,
  parseKeys,
} from './env/endpoints.ts';
import { describeRange, type Range, wholeNumber } from './env/numbers.ts';
import { PAIRS, parsePairs } from './env/pairs.ts';
import { parseSocket, SOCKET } from './env/socket.ts';

/**
 * Settings come from environment variables and are declared once per module. Reading them returns all values or
 * reports all problems at once, each with the variable, the expected form and the fix. Every secret also has a
 * `_FILE` form that names a file with the value.
 */
export interface Setting<Value> {
  variable: string;
  /** The description for the reference page. */
  about: string;
  /** Describes the expected form to the operator. */
  expected: string;
  /** The default as text; undefined when there is none. */
  shownDefault: string | undefined;
  secret: boolean;
  /** Throws an Error whose message completes the sentence "<variable> …". */
  parse(text: string): Value;
  fallback: Value | undefined;
  optional: boolean;
  /** How the operator can fix an invalid value. */
  fix: string;
}

export type Declaration = Record<string, Setting<unknown>>;
export type Settings<D extends Declaration> = {
  [Name in keyof D]: D[Name] extends Setting<infer Value> ? Value : never;
};
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface SettingProblem {
  variable: string;
  problem: string;
  expected: string;
  fix: string;
}

interface Description<Value> {
  about: string;
  fallback?: Value;
}

function make<Value>(
  variable: string,
  expected: string,
  common: Description<Value>,
  parse: (text: string) => Value,
  more: { secret?: boolean; optional?: boolean; fix?: string } = {},
): Setting<Value> {
  const { fallback } = common;
  const shown = fallback === undefined ? undefined : String(fallback);
  const unset = shown ? `or unset it for the default (${shown})` : 'or unset it';
  return {
    variable,
    about: common.about,
    expected,
    shownDefault: shown,
    secret: more.secret ?? false,
    parse,
    fallback,
    optional: more.optional ?? false,
    fix: more.fix ?? `correct it, ${unset}`,
  };
}

function longEnough(secret: string, minLength: number): string {
  if (secret.length < minLength) throw new Error(`has a secret of only ${secret.length} characters`);
  return secret;
}

export const setting = {
  text: (variable: string, common: Description<string>) => make(variable, 'a text', common, (text) => text),

  optionalText: (variable: string, about: string): Setting<string | undefined> =>
    make<string | undefined>(variable, 'a text', { about }, (text) => text, { optional: true }),

  /** A number from 0 to 1. */
  fraction: (variable: string, common: Description<number>) =>
    make(variable, 'a number from 0 to 1', common, (text) => {
      const value = Number(text);
      if (!/^\d*\.?\d+$/.test(text) || value > 1) throw new Error('is not a number in this range');
      return value;
    }),

  integer: (variable: string, range: Range, common: Description<number>) =>
    make(variable, describeRange(range), common, (text) => wholeNumber(text, range.min, range.max)),

  optionalInteger: (variable: string, range: Range, about: string): Setting<number | undefined> =>
    make<number | undefined>(
      variable,
      describeRange(range),
      { about },
      (text) => wholeNumber(text, range.min, range.max),
      { optional: true },
    ),

  /** `host:port`; IPv6 in brackets. */
  address: (variable: string, common: Description<string>) => make(variable, ADDRESS, common, parseAddress),

  optionalAddress: (variable: string, about: string): Setting<string | undefined> =>
    make<string | undefined>(variable, ADDRESS, { about }, parseAddress, { optional: true }),

  /** One or more addresses, separated by commas. */
  optionalAddresses: (variable: string, about: string): Setting<string | undefined> =>
    make<string | undefined>(
      variable,
      `${ADDRESS}, or several separated by commas`,
      { about },
      parseAddresses,
      { optional: true },
    ),

  /** The path of a unix socket. */
  optionalSocket: (variable: string, about: string): Setting<string | undefined> =>
    make<string | undefined>(variable, SOCKET, { about }, parseSocket, { optional: true }),

  port: (variable: string, common: Description<number>) =>
    make(variable, 'a port number from 0 (any free one) to 65535', common, (text) =>
      wholeNumber(text, 0, 65535),
    ),

  flag: (variable: string, common: Description<boolean>) =>
    make(variable, 'true or false', common, (text) => {
      if (text !== 'true' && text !== 'false') throw new Error('is neither true nor false');
      return text === 'true';
    }),

  choice: <Value extends string>(variable: string, values: readonly Value[], common: Description<Value>) =>
    make(variable, `one of ${values.join(', ')}`, common, (text) => {
      const value = values.find((one) => one === text);
      if (value === undefined) throw new Error('is not one of these values');
      return value;
    }),

  /** A list separated by commas. */
  list: (variable: string, expected: string, common: Description<string[]>) =>
    make(variable, expected, common, (text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    ),

  optionalUrl: (variable: string, protocols: readonly string[], about: string): Setting<string | undefined> =>
    make<string | undefined>(
      variable,
      `a URL beginning with ${protocols.map((one) => `${one}//`).join(' or ')}`,
      { about },
      (text) => {
        if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol))
          throw new Error('is not a URL of this form');
        return text;
      },
      { optional: true },
    ),

  /** A URL that can contain a password, so it is a secret. */
  optionalSecretUrl: (
    variable: string,
    protocols: readonly string[],
    about: string,
  ): Setting<string | undefined> => ({
    ...setting.optionalUrl(variable, protocols, about),
    secret: true,
  }),

  optionalPairs: (variable: string, about: string): Setting<Record<string, string> | undefined> =>
    make<Record<string, string> | undefined>(variable, PAIRS, { about }, parsePairs, { optional: true }),

  /** Pairs with secret values. */
  optionalSecretPairs: (variable: string, about: string): Setting<Record<string, string> | undefined> => ({
    ...setting.optionalPairs(variable, about),
    secret: true,
  }),

  /** An HTTP base URL without a trailing slash. */
  baseUrl: (variable: string, common: Description<string>) => make(variable, BASE_URL, common, parseBaseUrl),

  /** Base URLs by name. The names in `reserved` are not allowed. */
  optionalEndpoints: (
    variable: string,
    reserved: readonly string[],
    about: string,
  ): Setting<Record<string, string> | undefined> =>
    make<Record<string, string> | undefined>(
      variable,
      `${ENDPOINTS}, other than ${reserved.join(', ')}`,
      { about },
      (text) => parseEndpoints(text, reserved),
      { optional: true },
    ),

  /** A key that an external provider issued. */
  optionalKey: (variable: string, about: string): Setting<string | undefined> =>
    make<string | undefined>(variable, KEY, { about }, parseKey, { secret: true, optional: true }),

  /** Optional keys by name. */
  optionalKeys: (variable: string, about: string): Setting<Record<string, string> | undefined> =>
    make<Record<string, string> | undefined>(variable, KEYS, { about }, parseKeys, {
      secret: true,
      optional: true,
    }),

  optionalSecret: (variable: string, minLength: number, about: string): Setting<string | undefined> =>
    make<string | undefined>(
      variable,
      `a secret of at least ${minLength} characters`,
      { about },
      (text) => longEnough(text, minLength),
      { secret: true, optional: true, fix: 'make one with: openssl rand -base64 32' },
    ),

  /** Several secrets separated by commas. */
  optionalSecrets: (variable: string, minLength: number, about: string): Setting<string | undefined> =>
    make<string | undefined>(
      variable,
      `secrets of at least ${minLength} characters, separated by commas`,
      { about },
      (text) => {
        for (const one of text.split(',')) longEnough(one.trim(), minLength);
        return text;
      },
      { secret: true, optional: true, fix: 'make one with: openssl rand -base64 32' },
    ),
};
