import { useMutation, useQuery } from '@tanstack/react-query';
import { CircleAlert } from 'lucide-react';
import { channels } from '../../../api/channels.ts';
import type { Channel, ChannelProbe } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { ErrorAlert, ErrorState } from '../../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../../parts/errors/use-query-failure.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/page.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { requests } from '../requests.ts';
import { CredentialsForm } from './credentials-form.tsx';
import { Mark, STEP_ROW, Step, StepIcon } from './setup-step.tsx';

/** The steps at the product, and a check of the credentials. */
export function SetupTab({ channel }: { channel: Channel }) {
  const query = useQuery(channels.setup(channel));
  const failure = useQueryFailure(query);
  const curlOf = useCurl();
  if (failure) return <ErrorState {...failure} curl={curlOf(requests.setup(channel))} />;
  if (query.data === undefined) return <Skeleton lines={6} />;
  const { steps } = query.data;
  const next = steps.find(({ done }) => !done);
  const doneCount = steps.filter(({ done }) => done).length;
  return (
    <div className="flex flex-col gap-6">
      <section aria-labelledby="setup-steps">
        <div className="mb-2 flex items-center justify-between gap-2">
          <h2 id="setup-steps" className="font-semibold">
            Steps
          </h2>
          <CopyCurl {...requests.setup(channel)} about="setup" />
        </div>
        <p role="status" className="mb-2 text-[13px] text-muted">
          {next
            ? `${doneCount} of ${steps.length} steps done. This page notices when you have done the next one.`
            : 'All steps are done.'}
        </p>
        <Card>
          <ol aria-label="Setup steps">
            {steps.map((step) => (
              <Step key={step.name} step={step} isNext={step === next} />
            ))}
          </ol>
        </Card>
      </section>
      {channel.provider !== 'http' && (
        <>
          {channel.connection.state !== 'connected' && <CredentialsForm channel={channel} />}
          <Probe channel={channel} />
        </>
      )}
    </div>
  );
}

function Probe({ channel }: { channel: Channel }) {
  const probing = useMutation({ mutationFn: () => channels.probe(channel), gcTime: 0 });
  return (
    <section aria-labelledby="setup-checks" className="flex flex-col gap-2">
      <div className="flex items-center justify-between gap-2">
        <h2 id="setup-checks" className="font-semibold">
          Checks
        </h2>
        <div className="flex gap-2">
          <CopyCurl {...requests.probe(channel)} about="check" />
          <Button busy={probing.isPending} onClick={() => probing.mutate()}>
            Check now
          </Button>
        </div>
      </div>
      <ErrorAlert error={probing.error} />
      {probing.data && <Checks probe={probing.data} />}
    </section>
  );
}

function Checks({ probe: { checks } }: { probe: ChannelProbe }) {
  return (
    <Card>
      <p role="status" className="sr-only">
        {checks.filter(({ ok }) => ok).length} of {checks.length} checks passed.
      </p>
      <ul aria-label="Checks">
        {checks.map(({ name, ok, problem }) => (
          <li key={name} className={STEP_ROW}>
            {ok ? (
              <Mark isDone />
            ) : (
              <StepIcon text="Failed">
                <CircleAlert className="size-5 text-bad" aria-hidden />
              </StepIcon>
            )}
            <div className="min-w-0">
              <div className="font-medium">{nameOf(name)}</div>
              {problem !== null && <div className="text-[13px] wrap-anywhere">{problem}</div>}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

const nameOf = (check: string) => `${check.charAt(0).toUpperCase()}${check.slice(1)}`.replaceAll('_', ' ');
