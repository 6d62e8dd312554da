"""A client of the Model Context Protocol: finds the cause of a failed test by three calls. Prints a line for each fact."""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(mode: str, command: str, arguments: list[str]) -> None:
    server = StdioServerParameters(command=command, args=arguments, env=None)
    async with Client(stdio_client(server), mode=mode) as client:
        print("version", client.protocol_version)
        tools = (await client.list_tools()).tools
        print("tools", " ".join(tool.name for tool in tools))

        async def call(name: str, given: dict) -> str:
            result = await client.call_tool(name, given)
            text = result.content[0].text
            assert len(text.encode()) <= 8192, len(text.encode())
            print("called", name, "error" if result.is_error else "done")
            return text

        ran = await call("xhist_run", {"args": ["--lib", "unclosed"]})
        assert "tests::unclosed failed" in ran, ran
        assert "no closing bracket" in ran, ran
        frame = await call("xhist_frame", {})
        assert "panicked at entry" in frame and "called by" in frame, frame
        source = await call("xhist_source", {"file": "src/lib.rs", "test": "unclosed"})
        assert "self.depth += 1;" in source, source
        wrong = await call("xhist_find", {})
        assert "xhist_find takes what" in wrong, wrong


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
