#!/usr/bin/python3
"""Sends a raw stream to every client that connects, as networks do: in pieces, and not always to the end.

usage: sender.py PORT FILE [SHARE]...    serves one connection a SHARE (default one of 1), each that part of the file
       sender.py --to PORT FILE          connects instead
"""
import socket
import sys

PIECE = 1448  # what one TCP segment carries


def send(connection, data):
    try:
        for start in range(0, len(data), PIECE):
            connection.sendall(data[start:start + PIECE])
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)  # until the peer has read all
    except ConnectionError:
        pass  # it had enough
    connection.close()


def main(arguments):
    if arguments[0] == "--to":
        with open(arguments[2], "rb") as file:
            send(socket.create_connection(("127.0.0.1", int(arguments[1])), timeout=20), file.read())
        return
    with open(arguments[1], "rb") as file:
        data = file.read()
    with socket.create_server(("127.0.0.1", int(arguments[0]))) as server:
        server.settimeout(20)
        for share in arguments[2:] or ["1"]:
            connection, _ = server.accept()
            connection.settimeout(20)
            send(connection, data[:int(len(data) * float(share))])


main(sys.argv[1:])
