import { type AccessResults, accessRows } from './access-rows.ts';
import { type ConsoleResults, consoleRows } from './console-rows.ts';
import { type FileResults, fileRows } from './file-rows.ts';
import { line } from './rows.ts';
import { type SessionResults, sessionRows } from './session-rows.ts';
import { type WebhookResults, webhookRows } from './webhook-rows.ts';

export type Results = WebhookResults & SessionResults & FileResults & AccessResults & ConsoleResults;

/** The medians of the rounds, with the targets beside them. */
export function table(results: Results): string {
  const rows = [
    webhookRows(results),
    sessionRows(results),
    fileRows(results),
    accessRows(results),
    consoleRows(results),
  ];
  return rows.flat().map(line).join('\n');
}
