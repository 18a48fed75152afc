import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CertificateAuthority } from '../../../../services/runner/network/intercept/certificate-authority.ts';
import { createFakeClock } from '../../../support/clock.ts';

describe('CertificateAuthority', () => {
  it('issues certificates that OpenSSL accepts for their host alone, for 7 days', async () => {
    const clock = createFakeClock(new Date('2026-07-01T00:00:00Z'));
    const authority = await CertificateAuthority.create(clock);
    const issuer = new X509Certificate(authority.certificate);
    const { cert } = await authority.issue('api.example.test');
    const certificate = new X509Certificate(cert);
    expect(issuer.ca).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)).toBe(true);
    expect(certificate.checkHost('api.example.test')).toBe('api.example.test');
    expect(certificate.checkHost('example.test')).toBeUndefined();
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(issuer.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect([issuer.validToDate, certificate.validToDate]).toEqual(
      Array(2).fill(new Date('2026-07-08T00:00:00Z')),
    );
  });

  it('asks for a renewal two days before its end', async () => {
    const clock = createFakeClock(new Date('2026-07-01T00:00:00Z'));
    const authority = await CertificateAuthority.create(clock);
    clock.advance(5 * 86_400_000);
    expect(authority.isExpiring).toBe(false);
    clock.advance(1);
    expect(authority.isExpiring).toBe(true);
  });

  it('shares no key and no trust with another one', async () => {
    const clock = createFakeClock(new Date('2026-07-01T00:00:00Z'));
    const [one, other] = await Promise.all([
      CertificateAuthority.create(clock),
      CertificateAuthority.create(clock),
    ]);
    const { cert, key } = await one.issue('api.example.test');
    expect(new X509Certificate(cert).verify(new X509Certificate(other.certificate).publicKey)).toBe(false);
    expect(key).not.toBe((await other.issue('api.example.test')).key);
  });
});
