// Debugs histories as an editor does, with the client library of VS Code.
// usage: node client.mjs SCENE REPORT LOG [ARGUMENTS]; all messages of the adapter are appended to the file LOG.

import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';

const [scene, report, log, ...rest] = process.argv.slice(2);
const { DebugClient } = createRequire(path.join(process.env.XHIST_NPM, 'x.js'))('@vscode/debugadapter-testsupport');

/** A client that keeps what the adapter sends. */
async function start(options = {}, port = undefined) {
  const client = new DebugClient(report, 'dap', 'xhist', options);
  client.defaultTimeout = 20000;
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (text) => {
    appendFileSync(log, `${text}\n`);
    dispatch(text);
  };
  await client.start(port);
  return client;
}

/** Opens a history; the first stop. `configure` sets breakpoints. */
async function open(client, launch, configure = async () => {}) {
  const stopped = client.waitForEvent('stopped');
  const initialized = client.waitForEvent('initialized');
  await client.initializeRequest();
  const launched = client.launchRequest(launch);
  await Promise.race([initialized, launched]);
  await configure();
  await client.configurationDoneRequest();
  await launched;
  return (await stopped).body;
}

/** Does something that ends with a stop; the stop and the stack. */
async function go(client, act, threadId = 1) {
  const stopped = client.waitForEvent('stopped');
  await act();
  const { body } = await stopped;
  const { stackFrames } = (await client.stackTraceRequest({ threadId: body.threadId ?? threadId })).body;
  return { ...body, frames: stackFrames, at: `${stackFrames[0].source.name}:${stackFrames[0].line}` };
}

const say = (client, expression) => client.evaluateRequest({ expression, context: 'repl' });
const value = async (client, frame, expression) =>
  (await client.evaluateRequest({ expression, frameId: frame.id, context: 'watch' })).body.result;

/** The variables of a call, by scope. */
async function variables(client, frame) {
  const { scopes } = (await client.scopesRequest({ frameId: frame.id })).body;
  const all = {};
  for (const { name, variablesReference } of scopes) {
    const found = (await client.variablesRequest({ variablesReference })).body.variables;
    all[name] = Object.fromEntries(found.map((one) => [one.name, one.value]));
  }
  return all;
}

const scenes = {
  /** The paper's bug: why is the count zero? Back from the panic to what set it. */
  async meter(directory) {
    const client = await start();
    const stop = await open(client, { cwd: directory });
    assert.equal(stop.reason, 'exception');
    const { stackFrames } = (await client.stackTraceRequest({ threadId: stop.threadId })).body;
    assert.deepEqual(stackFrames.map((frame) => [frame.name, frame.line]), [['Meter::mean', 28], ['main', 14]]);
    assert.equal(stackFrames[0].source.path, path.join(directory, 'src/meter.rs'));
    assert.ok((await client.customRequest('exceptionInfo', { threadId: 1 })).body.exceptionId === 'panic');
    // A step back goes over the calls of a line.
    assert.equal((await go(client, () => client.stepBackRequest({ threadId: 1 }))).at, 'main.rs:14');
    assert.equal((await go(client, () => client.stepBackRequest({ threadId: 1 }))).at, 'main.rs:12');
    const cause = await go(client, () => client.stepInRequest({ threadId: 1 }));
    assert.equal(cause.at, 'meter.rs:11');
    assert.equal((await go(client, () => say(client, 'into'))).at, 'meter.rs:13');
    const restart = await go(client, () => say(client, 'into'));
    assert.deepEqual([restart.at, restart.frames[0].name], ['meter.rs:23', 'Meter::restart']);
    // All times that the line ran, without a stop.
    const output = client.waitForEvent('output');
    const source = { path: path.join(directory, 'src/meter.rs') };
    await client.setBreakpointsRequest({ source, breakpoints: [{ line: 18, logMessage: 'value {value}' }] });
    assert.match((await output).body.output, /^step \d+: value 21\n$/);
    const points = await client.setBreakpointsRequest({ source, breakpoints: [{ line: 18, condition: 'value == 24' }] });
    assert.equal(points.body.breakpoints[0].verified, true);
    const hit = await go(client, () => client.reverseContinueRequest({ threadId: 1 }));
    assert.deepEqual([hit.reason, hit.at, await value(client, hit.frames[0], 'value')], ['breakpoint', 'meter.rs:18', '24']);
    assert.equal((await variables(client, hit.frames[0])).Arguments.value, '24');
    const end = await go(client, () => client.continueRequest({ threadId: 1 }));
    assert.equal(end.reason, 'exception');
    await client.disconnectRequest();
  },

  /** What a user sees at the first stop, and what four clicks on *Step Back Into* show in each thread. */
  async bugs(...directories) {
    for (const directory of directories) await scenes.bug(directory);
  },

  async bug(directory) {
    console.log('the next bug');
    const client = await start({ cwd: directory });
    client.on('output', ({ body }) => console.log(body.output));
    await open(client, {});
    const { threads } = (await client.threadsRequest()).body;
    const look = async () => {
      for (const { id } of threads) {
        const { stackFrames } = (await client.stackTraceRequest({ threadId: id })).body;
        for (const { name, source, line } of stackFrames) console.log(`${source.name}:${line} ${name}`);
      }
    };
    await look();
    console.log('steps back');
    for (const { id } of threads) {
      for (let click = 0; click < 4; click++) {
        await go(client, () => client.stepBackRequest({ threadId: id, granularity: 'instruction' }));
        await look();
      }
      await go(client, () => client.continueRequest({ threadId: id }));
    }
    await client.disconnectRequest();
  },

  /** A failed test, of the run that failed last. */
  async failed_test(directory) {
    const client = await start({ cwd: directory });
    const name = 'a_module_with_a_name_that_is_rather_long::the_first_one';
    const stop = await open(client, { thread: name }, async () => {
      await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'twice_next', hitCondition: '1' }] });
    });
    assert.equal(stop.reason, 'exception');
    const { threads } = (await client.threadsRequest()).body;
    assert.deepEqual(threads.map((thread) => thread.name), [name]);
    const back = await go(client, () => client.reverseContinueRequest({ threadId: 1 }));
    assert.deepEqual([back.reason, back.frames[0].name], ['function breakpoint', 'twice_next']);
    const out = await go(client, () => say(client, 'rout'));
    assert.match(out.frames[0].name, /the_first_one$/);
    await client.disconnectRequest();
  },

  /** A task that hangs: its last statement is the `.await` that it waits at. */
  async hanging_task(directory, stuck) {
    const client = await start();
    await open(client, { cwd: directory });
    const source = { path: path.join(directory, 'src/main.rs') };
    await client.setBreakpointsRequest({ source, breakpoints: [{ line: Number(stuck) }] });
    const back = await go(client, () => client.reverseContinueRequest({ threadId: 1 }));
    assert.deepEqual([back.reason, back.at], ['breakpoint', `main.rs:${stuck}`]);
    assert.match(back.frames[0].name, /fetch/);
    const about = (await variables(client, back.frames[0])).xhist;
    assert.match(about.task, /handler|fetch/);
    assert.match(about.call, /entered at step/);
    // Where the same body went to sleep before: a step back goes over the time in between.
    const before = await go(client, () => client.stepBackRequest({ threadId: 1 }));
    assert.match(before.frames[0].name, /fetch/);
    await client.disconnectRequest();
  },

  /** A program that runs. */
  async follow(directory, program, history, line) {
    const child = spawn(program, [], { cwd: directory, env: { ...process.env, XHIST_FILE: history } });
    const said = async (text) => {
      child.stdin.write(`${text}\n`);
      await new Promise((done) => child.stdout.once('data', done));
    };
    await said('one');
    const client = await start({ cwd: directory });
    const source = { path: path.join(directory, 'src/main.rs') };
    await open(client, { history, follow: true }, () =>
      client.setBreakpointsRequest({ source, breakpoints: [{ line: Number(line), condition: 'number == 3' }] }));
    await go(client, () => client.continueRequest({ threadId: 1 }).then(() => client.pauseRequest({ threadId: 1 })));
    const hit = await go(client, async () => {
      await client.continueRequest({ threadId: 1 });
      await said('two');
      await said('three');
      await said('four');
    });
    assert.deepEqual([hit.reason, hit.at], ['breakpoint', `main.rs:${line}`]);
    assert.equal((await go(client, () => say(client, 'prev'))).at, `main.rs:${line}`);
    await client.setBreakpointsRequest({ source, breakpoints: [] });
    const end = await go(client, async () => {
      await client.continueRequest({ threadId: 1 });
      child.stdin.end();
    });
    assert.match(end.description, /^End of the recorded history/);
    await client.disconnectRequest();
  },

  /** Sources are elsewhere, or gone. */
  async paths(directory, history, built, moved) {
    const there = await start({ cwd: directory });
    await open(there, { history, sourceMap: { [built]: moved } }, async () => {
      const source = { path: path.join(moved, 'src/meter.rs') };
      const found = await there.setBreakpointsRequest({ source, breakpoints: [{ line: 23 }, { line: 26 }] });
      assert.deepEqual(found.body.breakpoints.map((point) => point.line), [23, 28]);
    });
    const hit = await go(there, () => there.reverseContinueRequest({ threadId: 1 }));
    assert.deepEqual(hit.frames[0].source, { name: 'meter.rs', path: path.join(moved, 'src/meter.rs') });
    await there.disconnectRequest();
    const gone = await start({ cwd: directory });
    await open(gone, { history });
    const { source } = (await gone.stackTraceRequest({ threadId: 1 })).body.stackFrames[0];
    assert.ok(source.sourceReference > 0 && /^made from the map/.test(source.origin));
    const { content } = (await gone.sourceRequest({ source, sourceReference: source.sourceReference })).body;
    assert.match(content.split('\n')[27], /statement/);
    await assert.rejects(gone.sourceRequest({ sourceReference: 99 }), /no such source/);
    await gone.disconnectRequest();
  },

  /** What cannot be opened says why, as the command line does; then another history can be opened. */
  async errors(directory, port) {
    const client = await start({ cwd: directory }, port && Number(port));
    await client.initializeRequest();
    await assert.rejects(client.launchRequest({ history: 'nothing.xhist' }), /nothing\.xhist.*[Nn]o such file/s);
    await assert.rejects(client.launchRequest({ history: 'Cargo.toml' }), /no xhist ring/);
    await assert.rejects(client.launchRequest({ stopAt: 'noon' }), /"end", "start" or a step number/);
    await assert.rejects(client.launchRequest({ only: '[' }), /\[/);
    await assert.rejects(client.customRequest('disassemble', {}), /not known/);
    const initialized = client.waitForEvent('initialized');
    const launched = client.launchRequest({});
    await initialized;
    await client.configurationDoneRequest();
    await launched;
    await client.disconnectRequest();
  },
};

await scenes[scene](...rest);
process.exit(0);
