import { describe, expect, it } from 'vitest';
import { banner } from '../../../services/bootstrap/console-output.ts';

const facts = {
  url: 'http://127.0.0.1:8080',
  dataDir: undefined,
  backends: [{ role: 'hints', description: 'here' }],
  warnings: [],
};

describe('banner', () => {
  it('shows the console URL and a request without a token in local mode', () => {
    const text = banner({ ...facts, isTeam: false });
    expect(text).toMatch(/open +http:\/\/127\.0\.0\.1:8080\n +API +http:\/\/127\.0\.0\.1:8080\/docs\n/);
    expect(text).not.toContain('Authorization');
  });

  it('shows warnings before the first request', () => {
    const text = banner({ ...facts, isTeam: false, warnings: ['Calls are not encrypted.', 'Two.'] });
    expect(text).toContain('here\n\n  Warning: Calls are not encrypted.\n\n  Warning: Two.\n\n  Try it\n');
    expect(banner({ ...facts, isTeam: false })).toContain('here\n\n  Try it\n');
  });

  it('shows the console URL and a request with a bearer token in team mode', () => {
    const text = banner({ ...facts, isTeam: true });
    expect(text).toMatch(/open +http:\/\/127\.0\.0\.1:8080\n/);
    expect(text).toContain('-H "Authorization: Bearer $TOKEN" \\\n');
  });
});
