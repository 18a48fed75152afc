import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { TextLink } from '../../parts/navigation/links.tsx';
import { Page } from '../../ui/page.tsx';
import { RadioOptions } from '../../ui/radio-options.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { NewWebhook } from './webhook/new.tsx';

const route = getRouteApi('/deployments/new');

const NewSchedule = lazy(async () => ({ default: (await import('./schedule/new.tsx')).NewSchedule }));

const NewChannel = lazy(async () => ({ default: (await import('./channel/new.tsx')).NewChannel }));

const TYPES = [
  {
    value: 'webhook',
    text: 'Webhook',
    about: 'A URL that starts a session for every request that is signed with a shared secret.',
  },
  {
    value: 'schedule',
    text: 'Schedule',
    about: 'Starts a session at the times of a calendar or an interval.',
  },
  {
    value: 'channel',
    text: 'Channel',
    about: 'Connects the agent with Slack, Telegram, Discord or another messaging product.',
  },
] as const;

/** Creates a deployment of the chosen type, or the replacement of a webhook. */
export function NewDeploymentPage() {
  const { type = 'webhook', replaces } = route.useSearch();
  const navigate = route.useNavigate();
  const above = <TextLink to="/deployments">Deployments</TextLink>;
  if (replaces !== undefined)
    return (
      <Page
        title="Replace webhook"
        lead="Creates a webhook with a new URL and a new secret. Both webhooks work until you delete the old one."
        above={above}
      >
        <NewWebhook />
      </Page>
    );
  return (
    <Page title="New deployment" lead="Starts sessions of an agent from outside." above={above}>
      <div className="mb-5 max-w-2xl">
        <RadioOptions
          label="Type"
          value={type}
          options={TYPES}
          onChange={(chosen) =>
            void navigate({
              search: (before) => ({ ...before, type: chosen === 'webhook' ? undefined : chosen }),
              replace: true,
            })
          }
        />
      </div>
      {type === 'webhook' ? (
        <NewWebhook />
      ) : (
        <Suspense fallback={<Skeleton lines={8} />}>
          {type === 'schedule' ? <NewSchedule /> : <NewChannel />}
        </Suspense>
      )}
    </Page>
  );
}
