import { type AccessResults, accessRows } from './access-rows.ts';
import { type ConsoleResults, consoleRows } from './console-rows.ts';
import { type FileResults, fileRows } from './file-rows.ts';
import { type ProcessResults, processRows } from './process-rows.ts';
import { line } from './rows.ts';
import { type SessionResults, sessionRows } from './session-rows.ts';
import { type WebhookResults, webhookRows } from './webhook-rows.ts';

export type Results = WebhookResults &
  SessionResults &
  FileResults &
  AccessResults &
  ConsoleResults &
  ProcessResults;

/** Formats the medians of the rounds with their targets. */
export function table(results: Results): string {
  const rows = [
    webhookRows(results),
    sessionRows(results),
    fileRows(results),
    accessRows(results),
    consoleRows(results),
    processRows(results),
  ];
  return rows.flat().map(line).join('\n');
}
