import { useMutation } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { audit, type Verification } from '../../api/audit.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Copyable } from '../../ui/code.tsx';

/** Verifies that no entry of the audit log was changed, removed or inserted. */
export function VerifyLog() {
  const verification = useMutation({ mutationFn: audit.verify });
  return (
    <div className="mb-4">
      <div className="flex flex-wrap items-center gap-2">
        <Button busy={verification.isPending} onClick={() => verification.mutate()}>
          <ShieldCheck aria-hidden />
          Verify log
        </Button>
        <CopyCurl label="Copy verification as curl" method="POST" path="/admin/audit/verify" body={{}} />
      </div>
      <ErrorAlert error={verification.error} />
      {verification.data && <VerificationResult {...verification.data} />}
      {/* Announces the result without the hash. */}
      <p role="status" className="sr-only">
        {verification.data && (verification.data.intact ? 'The log is intact.' : 'The log is not intact.')}
      </p>
    </div>
  );
}

function VerificationResult({
  intact,
  verified_seq: seq,
  verified_hash: hash,
  broken_seq: broken,
}: Verification) {
  return (
    <div
      className={classes(
        'mt-3 rounded-lg border p-3',
        intact ? 'border-good bg-good-soft' : 'border-bad bg-bad-soft',
      )}
    >
      {intact ? (
        <p className="font-medium">All {seq.toLocaleString('en')} entries are unchanged.</p>
      ) : (
        <p className="font-medium">
          Entry {broken?.toLocaleString('en')} was changed. All earlier entries are unchanged.
        </p>
      )}
      {hash && (
        <div className="mt-1 flex flex-wrap items-center gap-x-2">
          <span>Store this hash outside of the service to verify the log against it later:</span>
          <Copyable text={hash} label="Copy hash" />
        </div>
      )}
    </div>
  );
}
