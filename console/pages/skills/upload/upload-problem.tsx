import { ApiError } from '../../../api/client.ts';
import { ErrorAlert, sentenceOf } from '../../../parts/errors/error-state.tsx';
import { FileName } from '../../../parts/files/file-name.tsx';

/** Why an archive was not published. Problems of its content are shown by their path in the archive. */
export function UploadProblem({ problem }: { problem: ApiError | string }) {
  if (problem instanceof ApiError) {
    if (problem.code !== 'SKILL_INVALID') return <ErrorAlert error={problem} />;
    return (
      <div role="alert" className="rounded-lg border border-bad bg-bad-soft px-3 py-2 text-bad">
        <p className="font-medium">The archive was refused. Nothing was stored.</p>
        <ul className="mt-1 list-disc ps-5">
          {problem.details.map(({ pointer, message }) => (
            <li key={pointer + message} className="wrap-anywhere">
              {pointer === '' ? (
                sentenceOf(`The archive ${message}`)
              ) : (
                <>
                  <code className="font-mono">
                    <FileName text={pointer} />
                  </code>
                  : {sentenceOf(message)}
                </>
              )}
            </li>
          ))}
        </ul>
      </div>
    );
  }
  return (
    <p role="alert" className="rounded-lg border border-bad bg-bad-soft px-3 py-2 text-bad">
      {problem}
    </p>
  );
}
