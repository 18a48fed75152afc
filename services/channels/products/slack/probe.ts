import type { ChannelCheck } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';

const passed = (name: string): ChannelCheck => ({ name, ok: true, problem: '' });
const failed = (name: string, problem: string): ChannelCheck => ({ name, ok: false, problem });

/** One check for each missing scope, or one for all. `granted` is undefined if Slack has not named the scopes. */
export function scopeChecks(
  granted: readonly string[] | undefined,
  needed: readonly string[],
): ChannelCheck[] {
  if (!granted) return [failed('scope', 'Slack does not name the scopes of the token.')];
  const missing = needed.filter((scope) => !granted.includes(scope));
  if (missing.length === 0) return [passed('scope')];
  return missing.map((scope) =>
    failed(
      'scope',
      `The scope ${scope} is missing. Add it under OAuth & Permissions, and install the app again.`,
    ),
  );
}

/** `problem` is undefined for an accepted token. */
export function tokenCheck(name: 'token' | 'app_token', problem: string | undefined): ChannelCheck {
  return problem === undefined ? passed(name) : failed(name, problem);
}
