import { describe, expect, it } from 'vitest';
import type { SettingProblem } from '../../../lib/env.ts';
import { allowedOriginsWarning } from '../../../services/bootstrap/allowed-origins.ts';
import { readProcessConfig } from '../../../services/bootstrap/process-config.ts';
import type { Target } from '../../../services/bootstrap/target.ts';

const LISTED = { SERVICE_ALLOWED_ORIGINS: 'http://localhost:5173, https://app.example.com' };

function warningOf(env: Record<string, string>, target: Target = 'all') {
  const problems: SettingProblem[] = [];
  return allowedOriginsWarning(readProcessConfig(target, env, problems));
}

describe('the warning about pages of other origins', () => {
  it('names the origins and the setting in local mode', () => {
    const text =
      'Web pages of http://localhost:5173, https://app.example.com act as the local administrator. ' +
      'To end this, remove them from SERVICE_ALLOWED_ORIGINS.';
    expect(warningOf(LISTED)).toBe(text);
    expect(warningOf(LISTED, 'edge')).toBe(text);
  });

  it('does not occur without such origins, in team mode and in processes without the edge', () => {
    expect(warningOf({})).toBeUndefined();
    expect(warningOf({ ...LISTED, SERVICE_AUTH_MODE: 'oidc' })).toBeUndefined();
    expect(warningOf(LISTED, 'sessions')).toBeUndefined();
  });
});
