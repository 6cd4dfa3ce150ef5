// The host names under which internal ports respond.
import { expect, test } from '@jest/globals';
import { judgeHost } from '#libs/service/allowed-hosts.ts';

const isAllowed = judgeHost('ops.example.com,Metrics.Example.com');

test.each([
  '127.0.0.1:9090',
  '10.1.2.3',
  '[::1]:9090',
  'localhost:9090',
  'gateway:9090',
  'gateway.billhook.svc:9090',
  'gateway.billhook.svc.cluster.local',
  'ops.example.com',
  'OPS.example.com:443',
  'metrics.example.com.',
])('when the host is %s, then it is allowed', (host) => {
  expect(isAllowed(host)).toBe(true);
});

test.each([
  '',
  'evil.example:9402',
  'ops.example.com.evil.example',
  '127.0.0.1.evil.example',
  'evil.svc.example',
  'x.example.com',
])('when the host is "%s", then it is rejected', (host) => {
  expect(isAllowed(host)).toBe(false);
});
