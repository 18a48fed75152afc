import { describe, expect, it } from 'vitest';
import { banner } from '../../../services/house/screen.ts';

const facts = {
  url: 'http://127.0.0.1:8080',
  dataDir: undefined,
  standIns: [{ role: 'hints', inForce: 'here' }],
};

describe('the screen of a start', () => {
  it('begins with the console, and asks for nothing where nobody logs in', () => {
    const text = banner({ ...facts, isTeam: false });
    expect(text).toMatch(/open +http:\/\/127\.0\.0\.1:8080\n +API +http:\/\/127\.0\.0\.1:8080\/docs\n/);
    expect(text).not.toContain('Authorization');
  });

  it('begins with the console where people log in, which leads to the login, and says with what programs come', () => {
    const text = banner({ ...facts, isTeam: true });
    expect(text).toMatch(/open +http:\/\/127\.0\.0\.1:8080\n/);
    expect(text).toContain('-H "Authorization: Bearer $TOKEN" \\\n');
  });
});
