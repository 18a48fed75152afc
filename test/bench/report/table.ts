import { type AccessResults, accessRows } from './access-rows.ts';
import { type ChannelResults, channelRows } from './channel-rows.ts';
import { type ConsoleResults, consoleRows } from './console-rows.ts';
import { type EgressResults, egressRows } from './egress-rows.ts';
import { type FileResults, fileRows } from './file-rows.ts';
import { type LendingResults, lendingRows } from './lending-rows.ts';
import { type McpResults, mcpRows } from './mcp-rows.ts';
import { type ProcessResults, processRows } from './process-rows.ts';
import { type ProtocolResults, protocolRows } from './protocol-rows.ts';
import { line } from './rows.ts';
import { type ScheduleResults, scheduleRows } from './schedule-rows.ts';
import { type SessionResults, sessionRows } from './session-rows.ts';
import { type SkillResults, skillRows } from './skill-rows.ts';
import { type VaultResults, vaultRows } from './vault-rows.ts';
import { type WebhookResults, webhookRows } from './webhook-rows.ts';

export type Results = WebhookResults &
  SessionResults &
  ScheduleResults &
  ChannelResults &
  FileResults &
  AccessResults &
  EgressResults &
  LendingResults &
  VaultResults &
  McpResults &
  ProtocolResults &
  SkillResults &
  ConsoleResults &
  ProcessResults;

/** Formats the medians of the rounds with their targets. */
export function table(results: Results): string {
  const rows = [
    webhookRows(results),
    sessionRows(results),
    scheduleRows(results),
    channelRows(results),
    fileRows(results),
    skillRows(results),
    accessRows(results),
    egressRows(results),
    lendingRows(results),
    vaultRows(results),
    mcpRows(results),
    protocolRows(results),
    consoleRows(results),
    processRows(results),
  ];
  return rows.flat().map(line).join('\n');
}
