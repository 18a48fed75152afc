import { useMutation } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { audit, type Verification } from '../../api/audit.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { Problem } from '../../parts/faults/failure.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Copyable } from '../../ui/code.tsx';

/** Proves that nothing in the log was changed, left out or put in. */
export function Verify() {
  const verifying = useMutation({ mutationFn: audit.verify });
  return (
    <div className="mb-4">
      <div className="flex flex-wrap items-center gap-2">
        <Button busy={verifying.isPending} onClick={() => verifying.mutate()}>
          <ShieldCheck aria-hidden />
          Verify the log
        </Button>
        <CopyCurl label="Copy the check as curl" method="POST" path="/admin/audit/verify" body={{}} />
      </div>
      <Problem error={verifying.error} />
      {verifying.data && <Result {...verifying.data} />}
      {/* The hash is there to be copied, and not to be heard. */}
      <p role="status" className="sr-only">
        {verifying.data && (verifying.data.intact ? 'The log is intact.' : 'The log is not intact.')}
      </p>
    </div>
  );
}

function Result({ intact, verified_seq: seq, verified_hash: hash, broken_seq: broken }: Verification) {
  return (
    <div
      className={classes(
        'mt-3 rounded-lg border p-3',
        intact ? 'border-good bg-good-soft' : 'border-bad bg-bad-soft',
      )}
    >
      {intact ? (
        <p className="font-medium">All {seq.toLocaleString('en')} lines are as they were written.</p>
      ) : (
        <p className="font-medium">
          Line {broken?.toLocaleString('en')} is not as it was written. Before it, nothing was changed.
        </p>
      )}
      {hash && (
        <div className="mt-1 flex flex-wrap items-center gap-x-2">
          <span>Write this hash down elsewhere, to prove it again later:</span>
          <Copyable text={hash} label="Copy the hash" />
        </div>
      )}
    </div>
  );
}
