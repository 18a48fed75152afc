import { type Logger, LogLevel } from '@slack/web-api';

/** A logger for clients of Slack whose connections a test ends. */
export const SILENT_LOGGER: Logger = {
  ...{ debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, setName() {} },
  getLevel: () => LogLevel.ERROR,
};
