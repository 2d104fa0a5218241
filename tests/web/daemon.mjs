// SPDX-License-Identifier: GPL-2.0-or-later
// A daemon of its own, and servers that it probes: all on loopback, all gone at the end.
import {execFile, spawn} from 'node:child_process'
import {mkdtempSync, openSync, rmSync, writeFileSync} from 'node:fs'
import http from 'node:http'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'

const START_MS = 30000
export const sleep = ms => new Promise(done => setTimeout(done, ms))

export class Daemon {
	constructor(build, out) {
		this.folder = mkdtempSync(join(tmpdir(), 'zonegate-web-'))
		this.socket = join(this.folder, 'api.sock')
		this.build = build
		this.base = 'http://127.0.0.1:7480/ui/'
		this.dns = '127.0.0.1:5300'
		this.log = openSync(join(out, 'daemon.log'), 'w')
		writeFileSync(join(this.folder, 'z.conf'), `[node]\nname = gateway-1\n[api]\nsocket = ${this.socket}\nlisten = 127.0.0.1:7480\n[store]\npath = ${this.folder}/state\n` +
			`[kernel]\nipvs = off\nvip_device = none\n[dns]\nlisten = ${this.dns}\napex = lb.example.net\nns = ns1.example.net\nrrl = 0\n[log]\ntarget = stderr\nlevel = notice\n`)
	}

	async start() {
		this.process = spawn(join(this.build, 'zonegated'), ['-c', join(this.folder, 'z.conf')], {stdio: ['ignore', this.log, this.log], cwd: '/'})
		const end = Date.now() + START_MS
		for (;;) {
			try { await this.call('GET', '/livez'); return } catch (fault) {
				if (Date.now() > end || this.process.exitCode !== null) throw new Error(`the daemon does not start: ${fault.message}`)
				await sleep(20)
			}
		}
	}

	/** As if it were killed by the kernel: nothing is told to anybody. */
	async kill() {
		const gone = new Promise(done => this.process.once('exit', done))
		this.process.kill('SIGKILL')
		await gone
	}

	async dispose() {
		if (this.process && this.process.exitCode === null && this.process.signalCode === null) await this.kill()
		rmSync(this.folder, {recursive: true, force: true})
	}

	call(method, path, body, headers = {}) {
		const text = body === undefined ? undefined : JSON.stringify(body)
		return new Promise((done, fail) => {
			const request = http.request({socketPath: this.socket, method, path, headers: {Host: 'localhost', ...(text ? {'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text)} : {}), ...headers}}, answer => {
				const parts = []
				answer.on('data', part => parts.push(part))
				answer.on('end', () => { const whole = Buffer.concat(parts).toString(); done({status: answer.statusCode, headers: answer.headers, json: whole.startsWith('{') ? JSON.parse(whole) : undefined}) })
			})
			request.on('error', fail)
			request.end(text)
		})
	}

	async must(method, path, body, headers) {
		const answer = await this.call(method, path, body, headers)
		if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.json)}`)
		return answer.json
	}

	async cli(...words) {
		const {stdout} = await promisify(execFile)(join(this.build, 'zonegate'), ['--socket', this.socket, ...words])
		return stdout
	}
}

/** A server that is well until it is stopped. */
export class Backend {
	constructor(address, port = 8080) { Object.assign(this, {address, port}) }

	start() {
		this.server = http.createServer((_, answer) => { answer.writeHead(200, {'Content-Length': 0}); answer.end() })
		return new Promise((done, fail) => { this.server.once('error', fail); this.server.listen(this.port, this.address, done) })
	}

	async stop() {
		const gone = new Promise(done => this.server.close(done))
		this.server.closeAllConnections()
		await gone
	}
}
