import type { Provider } from '../channel.ts';
import { discordSteps } from './discord.ts';
import { httpSteps } from './http.ts';
import { slackSteps } from './slack.ts';
import type { SetupFacts, SetupStep } from './step.ts';
import { telegramSteps } from './telegram.ts';

const STEPS: Readonly<Record<Provider, (facts: SetupFacts) => SetupStep[]>> = {
  slack: slackSteps,
  telegram: telegramSteps,
  discord: discordSteps,
  http: httpSteps,
};

/** The steps of the owner at the product, in order. */
export function setupSteps(provider: Provider, facts: SetupFacts): SetupStep[] {
  return STEPS[provider](facts);
}
