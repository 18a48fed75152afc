import { type Canaries, databaseDump } from '../../support/canaries.ts';
import type { OtlpReceiver } from '../../support/otlp/receiver.ts';
import type { RecordedResponse } from './recorded-responses.ts';

/** A text that is searched, and where it was found. */
export interface SearchedText {
  name: string;
  content: string | Uint8Array;
}

/** Returns which canaries occur where, as `<where>: <canary>`. */
export function findSecrets(canaries: Canaries, texts: Iterable<SearchedText>): string[] {
  return Array.from(texts).flatMap(({ name, content }) =>
    canaries.in(content).map((one) => `${name}: ${one}`),
  );
}

export const textsOfResponses = (responses: readonly RecordedResponse[]): SearchedText[] =>
  responses.map(({ request, text }) => ({ name: request, content: text }));

/** The exported spans, metrics and log records, as received and as read. */
export const textsOfExports = ({ exports }: Pick<OtlpReceiver, 'exports'>): SearchedText[] =>
  exports.flatMap(({ signal: name, message, bytes }) => [
    { name, content: JSON.stringify(message) },
    { name, content: bytes },
  ]);

/** Every row of every table. */
export async function textsOfTables(databaseUrl: string): Promise<{ name: string; content: string }[]> {
  return (await databaseDump(databaseUrl)).map(({ table, row }) => ({ name: table, content: row }));
}
