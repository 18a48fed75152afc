import type { ExtensionMcpServer, ExtensionSkill } from '../../gen/index.ts';
import type { Tone } from '../../ui/badge.tsx';

type ServerState = ExtensionMcpServer['state'];
type SkillState = ExtensionSkill['state'];

export const STATE_TONES: Record<ServerState | SkillState, Tone> = {
  ready: 'good',
  unreviewed: 'warn',
  changed: 'warn',
  disabled: 'plain',
  deleted: 'bad',
};

/** Why tools of a server are not offered or not called. */
export const SERVER_REASONS: Record<ServerState, string> = {
  ready: '',
  unreviewed: 'An administrator has to review its tools first.',
  changed: 'Its tools have changed since the review. Changed tools are not called.',
  disabled: 'An administrator has disabled it. Its tools are not offered.',
  deleted: 'It was deleted. Remove it.',
};

/** Why sessions do not get a skill. */
export const SKILL_REASONS: Record<SkillState, string> = {
  ready: '',
  disabled: 'An administrator has disabled it. Sessions do not get it.',
  deleted: 'It was deleted. Remove it.',
};

export function toolCountOf({
  tool_count: all,
  offered_count: offered,
  offer_resources: hasResources,
}: ExtensionMcpServer): string {
  const resources = hasResources ? ' · resources' : '';
  if (all === 0) return `No reviewed tools${resources}`;
  return `${offered} of ${all} ${all === 1 ? 'tool' : 'tools'} offered${resources}`;
}
